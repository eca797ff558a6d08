import { formatPercent } from '@startgrid/cli/numbers.ts'
import type { Estimate } from '@startgrid/stats/estimate.ts'
import { pValue } from '@startgrid/stats/estimate.ts'
import { holm } from '@startgrid/stats/multiplicity.ts'
import type { Metric } from '../../model/figures.ts'
import { METRIC_NAMES } from '../../model/names.ts'
import type { ComparedRace, Comparison } from './comparison.ts'

/** What `--fail-on-regression` fails on. */

/** Chance of even one false alarm in a comparison. */
const FALSE_ALARM = 0.05

/**
 * CPU per request of all apps together has moved by this part because of neighbours alone (5 to 15 % where the rate
 * halved).
 */
const MACHINE = 0.15

/**
 * What became worse in B by more than the limit, each as a sentence.
 *
 * - A cell whose normalised ratio is worse than the limit with confidence: a one-sided test against the limit itself, not against no
 *   change, with Holm's correction over all cells at 5 %. So cells that are slower by just the limit give an alarm in one comparison of
 *   twenty at most, and unchanged ones hardly ever; the price is that a regression is found for certain only when it passes the limit
 *   by the width of its interval. Slower by 5 % is a rate below 0.95, or CPU per request above 1 / 0.95, which a full core turns
 *   into that rate.
 * - A race in which CPU per request of all cells moved together by more than the limit and what a machine alone has been seen to do.
 *   The rate has no such bound: a neighbour halves it.
 * - A cell that had a number in A and gave wrong responses in B.
 *
 * @param limit as a part of 1, above 0 and below 1
 * @returns nothing if nothing became worse
 */
export function findRegressions(comparison: Comparison, limit: number): string[] {
  return [
    ...slowCells(comparison, limit),
    ...comparison.races.flatMap((race) => slowRace(race, limit) ?? []),
    ...comparison.left.flatMap(({ cell, reason, broken }) =>
      broken ? [`${cell} gives wrong responses: ${reason}.`] : [],
    ),
  ]
}

function slowCells({ races, metric }: Comparison, limit: number): string[] {
  const cells = races
    .flatMap((race) => race.cells)
    .flatMap((cell) => (cell.tested ? [{ ...cell, tested: cell.tested }] : []))
  const adjusted = holm(cells.map(({ tested }) => chanceWithinLimit(tested, limit, metric)))
  return cells.flatMap(({ cell, plain, normalised }, index) => {
    if ((adjusted[index] ?? 1) >= FALSE_ALARM) return []
    const { value } = normalised ?? plain
    const change = formatPercent(metric === 'rate' ? 1 - value : value - 1)
    const what =
      metric === 'rate'
        ? `has ${change} less ${METRIC_NAMES.rate}`
        : `needs ${change} more ${METRIC_NAMES.cpu}`
    return [`${cell} ${what}: slower by more than ${formatPercent(limit)} for certain.`]
  })
}

/** One-sided p-value of "slower by the limit at most". */
function chanceWithinLimit(tested: Estimate, limit: number, metric: Metric): number {
  const slowness = metric === 'rate' ? -tested.estimate : tested.estimate
  const beyond = { ...tested, estimate: slowness + Math.log(1 - limit) }
  const half = pValue(beyond) / 2
  return beyond.estimate > 0 ? half : 1 - half
}

function slowRace({ title, shift: { cpu }, cells }: ComparedRace, limit: number): string | null {
  if (cpu === null || cpu <= (1 + MACHINE) / (1 - limit)) return null
  return (
    `All ${cells.length} cells of ${title} together need ${formatPercent(cpu - 1)} more CPU per request: more than ` +
    `${formatPercent(limit)} above what a busy machine alone has been seen to add (${formatPercent(MACHINE)}).`
  )
}
