import { scalingOf } from '../judge/study/scaling.ts'
import type { ScalingResult } from '../model/figures.ts'
import { describeSharedMachine, wayToReplicas } from '../model/names.ts'
import type { CapacityResult, CellSpec } from '../model/result.ts'
import { proxyWorkers } from '../plan/cells.ts'
import { limitsOf } from './capacity-figures.ts'
import { intervalOf } from './interval.ts'

/** How the capacity of each app grows with its replicas. Pure. */
export function replicaScaling(result: CapacityResult): ScalingResult[] {
  const copied = result.cells.filter(({ replicas }) => replicas !== null)
  const curves = Map.groupBy(copied, ({ app, topology }) => `${app} ${topology}`)
  return [...curves.values()].flatMap((cells) => {
    const [first] = cells
    return first === undefined ? [] : [curveOf(first, cells, result)]
  })
}

/** A round starts each cell once, so the launches with one number are neighbours in time. */
function curveOf(first: CellSpec, cells: readonly CellSpec[], result: CapacityResult): ScalingResult {
  const title = `${first.app} ${wayToReplicas(first.topology)}`
  const race = `${first.role} ${first.topology}`
  const nodes = result.cluster?.nodes ?? []
  const shared = describeSharedMachine(nodes)
  if (shared !== null)
    return {
      title,
      race,
      points: [],
      fit: null,
      withheld: `${shared}: the rates show that the measurement works, and no curve.`,
    }
  const had = nodes.filter(({ role }) => role === 'servers').reduce((sum, { cpus }) => sum + cpus.length, 0)
  const limits = new Map(cells.map((cell) => [cell.id, limitsOf(cell, result)]))
  return scalingOf(
    { title, race, workers: Object.fromEntries(cells.map(({ id, replicas }) => [id, replicas ?? 1])) },
    {
      cells: cells.map(({ id, topology, replicas }) => {
        const wanted = coresFor(replicas ?? 1, topology)
        return { race, app: id, cores: { wanted, given: Math.min(wanted, had) } }
      }),
      rates: (_, system) => limits.get(system) ?? [],
      ratio: (_, __, over, under) => ratioOf(limits.get(over) ?? [], limits.get(under) ?? []),
    },
  )
}

function coresFor(replicas: number, topology: CellSpec['topology']): number {
  return replicas + (topology === 'direct' ? 0 : proxyWorkers(replicas))
}

function ratioOf(over: readonly (number | null)[], under: readonly (number | null)[]) {
  const ratios = over.flatMap((rate, launch) => {
    const other = under[launch] ?? null
    return rate === null || other === null ? [] : [rate / other]
  })
  return ratios.length === 0 ? null : intervalOf(ratios)
}
