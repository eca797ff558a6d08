import type { Scaling } from '../../model/experiment.ts'
import type { ScalingResult } from '../../model/figures.ts'
import type { ClaimContext } from './claim.ts'

/** Rates against one worker. */
export function scalingOf(
  { title, race, workers }: Scaling,
  { ratio: ratioOf, cells }: Pick<ClaimContext, 'ratio' | 'cells'>,
): ScalingResult {
  const single = Object.entries(workers).find(([, count]) => count === 1)?.[0] ?? ''
  const points = Object.entries(workers).flatMap(([system, count]) => {
    const ratio = ratioOf(race, 'rate', system, single)
    const cell = cells.find((one) => one.race === race && one.system === system)
    return ratio === null || cell === undefined ? [] : [{ workers: count, ratio, cores: cell.cores.given }]
  })
  return { title, race, points }
}
