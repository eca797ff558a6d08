import { formatMicros } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { type Claim, publishedRatio } from '../result/experiment.ts'
import type { CellFigures, ClaimResult, Verdict } from '../result/figures.ts'
import { isLatency, type Metric } from '../result/metrics.ts'
import type { Cell } from '../result/result.ts'

/** What claims are judged by. */
interface ClaimContext {
  cells: readonly Cell[]
  figures: readonly CellFigures[]
  /** @param against the race of `under`; default the same */
  ratio(race: string, metric: Metric, over: string, under: string, against?: string): Interval | null
}

export function judgeClaim(claim: Claim, context: ClaimContext): ClaimResult {
  const { published: _, because: __, ...told } = claim
  const { race, against, metric, over, under } = told
  const published = publishedRatio(claim)
  const ratio = context.ratio(race, metric, over, under, against)
  const undecided = whyUndecided(claim, ratio, context)
  const verdict = undecided === null && ratio !== null ? decide(ratio, published) : 'undecided here'
  return {
    ...told,
    published,
    ratio,
    verdict,
    undecided: undecided ?? (verdict === 'undecided here' ? whyOpen(published) : null),
    because: ratio === null ? null : becauseOf(claim, context),
  }
}

/** What each costs in CPU, where it is known, and what figures do not say: a sentence or two. */
function becauseOf(
  { race, against = race, over, under, because }: Claim,
  { cells, figures }: ClaimContext,
): string | null {
  const costs = [
    [against, under],
    [race, over],
  ].flatMap(([name, system]) => {
    const own = figures.find((one) => one.race === name && one.system === system && one.void === null)
    const title = cells.find(({ id }) => id === own?.cell)?.title
    const { figures: { cpu } = {}, cpu: { proxy } = { proxy: null } } = own ?? {}
    if (cpu === undefined) return []
    return `${formatMicros(cpu.value)} µs on ${title}${proxy ? ` (NGINX ${formatMicros(proxy)})` : ''}`
  })
  const said = costs.length < 2 ? [] : [`CPU for each: ${costs.join(', ')}.`]
  return [...said, because ?? []].flat().join(' ') || null
}

/** Why the ratio, if there is one, may not decide: a clause. Null if it may. */
function whyUndecided(
  { race, against = race, metric, over, under }: Claim,
  ratio: Interval | null,
  context: ClaimContext,
): string | null {
  const cells = context.cells.filter(
    (one) => (one.race === race && one.system === over) || (one.race === against && one.system === under),
  )
  const skipped = cells.find((cell) => cell.skipped !== null)
  if (cells.length < 2) return 'it was not measured'
  if (skipped !== undefined) return `${skipped.title} was not measured: ${skipped.skipped}`
  // What no second run on this machine would mend comes first.
  const small = cells.find(({ cores }) => cores.given < cores.wanted)
  if (small !== undefined) return whyTooSmall(small)
  for (const { id, title } of cells) {
    const figures = context.figures.find(({ cell }) => cell === id)
    if (figures === undefined) continue
    if (figures.void !== null) return `${title} is void: ${figures.void}`
    const { voidedBecause = null, late: left = [] } = (isLatency(metric) ? figures.openLoop : null) ?? {}
    const late = left.includes(metric) ? 'the generator was late' : voidedBecause
    if (late !== null) return `the latency of ${title} is void: ${late}`
  }
  if (ratio === null) return 'it was not measured'
  return ratio.low === null ? 'one launch gives no interval' : null
}

function whyTooSmall({ title, cores, workload }: Cell): string {
  const generator = workload === null ? '' : ' and one for the generator'
  return `${title} needs ${plural(cores.wanted, 'core')}${generator}, and this machine has ${cores.given} for it`
}

function whyOpen(published: number): string {
  return saysNoEffect(published)
    ? 'the interval is neither within 0.91 to 1.1 nor outside of it'
    : 'the interval includes 1, and is not within the published size'
}

/** A ratio holds if its interval lies within these parts of the published one. */
const SIZE = { low: 0.8, high: 1.25 }

/** A published ratio within these says that there is no effect. */
const SAYS_NO_EFFECT = { low: 0.95, high: 1.05 }

/** No effect is shown if the interval lies within these: the same for a ratio upside down. */
const NO_EFFECT = { low: 1 / 1.1, high: 1.1 }

function saysNoEffect(published: number): boolean {
  return published >= SAYS_NO_EFFECT.low && published <= SAYS_NO_EFFECT.high
}

/**
 * The verdict from the 95 % interval of our ratio: docs/studies/README.md says what each means.
 * @param published above 0
 */
export function decide(ratio: Interval, published: number): Verdict {
  const { low, high } = ratio
  if (low === null || high === null) return 'undecided here'
  if (saysNoEffect(published)) {
    if (low >= NO_EFFECT.low && high <= NO_EFFECT.high) return 'holds'
    return low > NO_EFFECT.high || high < NO_EFFECT.low ? 'not reproduced here' : 'undecided here'
  }
  const least = SIZE.low * published
  const most = SIZE.high * published
  if (low >= least && high <= most) return 'holds'
  if (isBeyondOne(low, high, published))
    return high < least || low > most ? 'direction holds, size differs' : 'direction holds, size undecided'
  // Where the true ratio is 1, every interval includes 1, however narrow it becomes: it would never refute the published one.
  const isNone = low >= NO_EFFECT.low && high <= NO_EFFECT.high && (high < least || low > most)
  return isNone || isBeyondOne(low, high, 1 / published) ? 'not reproduced here' : 'undecided here'
}

/** Whether the whole interval is on the same side of 1 as the ratio. */
function isBeyondOne(low: number, high: number, ratio: number): boolean {
  return ratio > 1 ? low > 1 : ratio < 1 && high < 1
}
