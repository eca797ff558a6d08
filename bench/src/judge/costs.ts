import { meanInterval } from '@startgrid/stats/estimate.ts'
import type { Costs } from '../result/experiment.ts'
import type { CostCurve, CostsResult } from '../result/figures.ts'

/** CPU seconds per request in one heat, by amount of work. */
type Points = ReadonlyMap<number, number>

/** What one heat says of a line, or of the difference of two. */
interface HeatCurve {
  points: Points
  fixed: number
  perUnit: number
}

/**
 * What each line costs, and the differences of the pairs. Differences are taken within a heat, whose systems were measured in the same passes:
 * what slowed the machine slowed both.
 * @param cpuOf CPU seconds per request by heat; null where nothing counts
 */
export function costsOf(
  { title, race, lines, pairs }: Costs,
  cpuOf: (system: string) => readonly (number | null)[],
): CostsResult {
  const curves = new Map(Object.entries(lines).map(([name, systems]) => [name, curvesOf(systems, cpuOf)]))
  const find = (name: string) => curves.get(name) ?? []
  return {
    title,
    race,
    lines: [...curves].map(([name, heats]) => ({ name, ...summarise(heats) })),
    pairs: pairs.map(([over, under]) => {
      const others = find(under)
      const differences = find(over).map((one, heat) => subtract(one, others[heat] ?? null))
      return { over, under, ...summarise(differences) }
    }),
  }
}

/** By heat; null where one of its systems has no figure. */
function curvesOf(
  systems: Readonly<Record<number, string>>,
  cpuOf: (system: string) => readonly (number | null)[],
): (HeatCurve | null)[] {
  const amounts = Object.keys(systems).map(Number)
  const costs = Object.values(systems).map(cpuOf)
  const heats = Math.max(0, ...costs.map(({ length }) => length))
  return Array.from({ length: heats }, (_, heat) => {
    const own = costs.flatMap((one) => one[heat] ?? [])
    if (own.length < amounts.length) return null
    const points = new Map(amounts.map((amount, index) => [amount, own[index] ?? 0]))
    return { points, ...fitLine(points) }
  })
}

/** Least squares of relative errors, because what disturbs a cost does so by a factor. NaN for one point. */
function fitLine(points: Points): { fixed: number; perUnit: number } {
  let [sum, x, y, xx, xy] = [0, 0, 0, 0, 0]
  for (const [amount, cost] of points) {
    const weight = 1 / cost ** 2
    sum += weight
    x += weight * amount
    y += weight * cost
    xx += weight * amount ** 2
    xy += weight * amount * cost
  }
  const perUnit = (sum * xy - x * y) / (sum * xx - x ** 2)
  return { fixed: (y - perUnit * x) / sum, perUnit }
}

function subtract(one: HeatCurve | null, other: HeatCurve | null): HeatCurve | null {
  if (one === null || other === null) return null
  return {
    points: new Map(
      [...one.points].map(([amount, cost]) => [amount, cost - (other.points.get(amount) ?? 0)]),
    ),
    fixed: one.fixed - other.fixed,
    perUnit: one.perUnit - other.perUnit,
  }
}

function summarise(curves: readonly (HeatCurve | null)[]): CostCurve {
  const heats = curves.filter((one) => one !== null)
  const amounts = [...(heats[0]?.points.keys() ?? [])]
  const isLine = amounts.length > 1
  return {
    heats: heats.length,
    fixed: isLine ? meanInterval(heats.map(({ fixed }) => fixed)) : null,
    perUnit: isLine ? meanInterval(heats.map(({ perUnit }) => perUnit)) : null,
    points: amounts.map((amount) => ({
      amount,
      cost: meanInterval(heats.map(({ points }) => points.get(amount) ?? 0)),
    })),
  }
}
