import { formatEnds, formatPercent } from '@startgrid/cli/numbers.ts'
import { type Contention, fitContention } from '@startgrid/stats/contention.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { ContentionRecord, ScalingResult } from '../../model/figures.ts'
import type { Scaling } from '../../model/study.ts'
import type { StudyCell } from '../../model/study-result.ts'
import type { ClaimContext } from './claim.ts'

/** What curves are made of beside the ratios. */
export interface ScalingContext extends Pick<ClaimContext, 'ratio'> {
  cells: readonly Pick<StudyCell, 'race' | 'app' | 'cores'>[]
  /** Responses per second, by heat; null where a launch does not count. */
  rates(race: string, system: string): readonly (number | null)[]
}

/** Rates against one worker, and a fit of contention to those that had a core for each worker. */
export function scalingOf({ title, race, workers }: Scaling, context: ScalingContext): ScalingResult {
  const single = Object.entries(workers).find(([, count]) => count === 1)?.[0] ?? ''
  const entries = Object.entries(workers).flatMap(([system, count]) => {
    const ratio = context.ratio(race, 'rate', system, single)
    const cell = context.cells.find((one) => one.race === race && one.app === system)
    return ratio === null || cell === undefined ? [] : [{ system, workers: count, ratio, cores: cell.cores }]
  })
  const apart = entries.filter(({ cores }) => cores.given >= cores.wanted)
  const heats = Math.max(0, ...apart.map(({ system }) => context.rates(race, system).length))
  const series = Array.from({ length: heats }, (_, heat) =>
    apart.flatMap(({ system, workers: count }) => {
      const rate = context.rates(race, system)[heat] ?? null
      return rate === null ? [] : [{ workers: count, rate }]
    }),
  )
  const fit = fitContention(series)
  return {
    title,
    race,
    points: entries.map(({ workers: count, ratio, cores }) => ({
      workers: count,
      ratio,
      cores: cores.given,
    })),
    fit: 'missing' in fit ? null : recordOf(fit),
    withheld: 'missing' in fit ? fit.missing : null,
  }
}

function recordOf({ sigma, kappa, peakWorkers }: Contention): ContentionRecord {
  return { contention: sigma, coherency: kappa, peakWorkers }
}

/** A sentence. */
export function describeContention({ contention, coherency, peakWorkers }: ContentionRecord): string {
  const part = (of: Interval) => `${formatPercent(of.value)} (${formatEnds(of, formatPercent)})`
  const peak =
    peakWorkers === null ? '' : ` By that, the rate is highest with ${Math.round(peakWorkers)} workers.`
  return `By the Universal Scalability Law, contention is ${part(contention)} and coherency ${part(coherency)}.${peak}`
}
