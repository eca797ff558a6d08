import { formatEnds, formatRatio, formatSpeed, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { cut, listOf, plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { ratioOf, startsIn } from '../judge/since.ts'
import { formatMargin, verdictOf, WITHIN } from '../judge/verdict.ts'
import type { Since, SinceStep } from '../result/figures.ts'
import type { Result } from '../result/result.ts'
import { type Chart, ratioChart } from './chart.ts'
import type { Section } from './document.ts'

/** Since which commit two ends differ: sentences, a chart and a table of the history. */

/** Of a set, so many are named. */
const NAMED = 5
/** From this probability on, a reader is told that it may have come in two steps. */
const PERHAPS = 0.02

/** `Since 3f2a91c "Validate cookies" (97 %): it took 9.4 % (7.2–11.6) of the requests per second`: sentences, the first one says which commit. */
export function describeSince({ steps, several, commits }: Since, result: Result): string[] {
  const describe = ({ set, change }: SinceStep) => {
    const named = set.slice(0, NAMED).flatMap((wanted) => commits.filter(({ hash }) => hash === wanted))
    const names = named.map(
      ({ hash, title, skipped, probability }) =>
        `${hash} "${title}" (${formatPart(probability)}${skipped === undefined ? '' : ', not raced'})`,
    )
    if (set.length > NAMED) names.push(`${set.length - NAMED} others`)
    const which = set.length === 1 ? '' : `one of ${plural(set.length, 'commit')}, `
    return which + listOf(names) + (change === null ? '' : `: it ${describeChange(change, result)}`)
  }
  return [
    `${steps.length > 1 ? 'In two steps: since' : 'Since'} ${steps.map(describe).join('; since ')}`,
    ...beforeOf(steps, result),
    ...(steps.length === 1 && several >= PERHAPS
      ? [`With a probability of ${formatPart(several)}, it came in more than one step`]
      : []),
    ...commits.flatMap(({ hash, title, skipped }) =>
      skipped === undefined ? [] : `${hash} "${title}" was skipped: ${skipped}`,
    ),
  ]
}

function formatPart(part: number): string {
  return part > 0.995 ? '>99 %' : `${Math.round(100 * part)} %`
}

/** `took 9.4 % (7.2–11.6) of the requests per second` */
function describeChange({ value, low, high }: Interval, { analysis }: Result): string {
  const isRate = analysis?.findings[0]?.decides !== 'cpu'
  const of = (one: number) => 100 * Math.abs(isRate ? one - 1 : 1 / one - 1)
  const ends = [low ?? value, high ?? value]
  const span = ends.map(of).sort((a, b) => a - b)
  const isNoise = ends.some((end) => end < 1 !== value < 1)
  const percent = `${of(value).toFixed(1)} % (${isNoise ? 'less than the noise' : span.map((one) => one.toFixed(1)).join('–')})`
  const what = isRate ? 'requests per second' : 'CPU per request'
  return value > 1 === isRate ? `added ${percent} to the ${what}` : `took ${percent} of the ${what}`
}

/** What is known of all before a change: `Before it, commits up to a41c09e are as fast as v5.1.0 within 3 %`. */
function beforeOf([step]: readonly SinceStep[], { experiment, settings, search = [] }: Result): string[] {
  const [good = ''] = Object.keys(experiment.systems)
  const first = search.findIndex(({ hash }) => step?.set.includes(hash))
  const raced = search.slice(0, first).filter(({ starts }) => starts.length > 0)
  const { low = null, high = null } = ratioOf(startsIn(raced), 'own', 'good') ?? {}
  const { within = WITHIN } = settings
  if (low === null || high === null) return []
  const isAlike = verdictOf({ value: 1, low, high }, within) === 'alike'
  const known = isAlike
    ? `as fast as ${good} within ${formatMargin(within)}`
    : `between ${formatSpeed(low)} and ${formatSpeed(high)} than ${good}`
  return [`Before it, commits up to ${raced.at(-1)?.hash} are ${known}`]
}

export function chartOfSince({ commits, steps }: Since, { experiment }: Result): Chart | undefined {
  const [good = ''] = Object.keys(experiment.systems)
  const dots = commits.flatMap(({ hash, ratio, probability }) => {
    // A longer name would make the letters small on a phone.
    const name = `${hash.slice(0, 7)} ${formatPart(probability)}`
    return ratio === null ? [] : { ...ratio, name, leads: steps.some(({ set }) => set[0] === hash) }
  })
  return ratioChart({
    title: `Commits that were raced, the oldest first, as a part of the speed of ${good}`,
    caption:
      'With 95 % intervals. Beside each commit, how probable it is that the change came with this commit. The scale is logarithmic.',
    label: 'speed',
    panels: [{ title: 'Speed', dots }],
  })
}

/** Of other commits there is nothing to say. */
export function sectionOfSince({ commits, steps }: Since): Section {
  const suspected = new Set(steps.flatMap(({ set }) => set))
  const shown = commits.filter(
    ({ hash, ratio, skipped }) => ratio !== null || skipped !== undefined || suspected.has(hash),
  )
  return {
    title: 'Commits, the oldest first',
    table: tableOf(
      shown,
      [
        left('commit', 0, ({ hash }) => hash),
        left('title', 1, ({ title }) => cut(title, 26)),
        left('date', 4, ({ date }) => date.slice(0, 10)),
        right('starts', 3, ({ starts, skipped }) => (skipped === undefined ? String(starts) : 'skipped')),
        right('speed', 0, ({ ratio }) => (ratio === null ? UNKNOWN : formatRatio(ratio.value))),
        right('95 %', 2, ({ ratio }) => formatEnds(ratio, (end) => end.toFixed(3))),
        right('it came with this', 0, ({ probability }) => formatPart(probability)),
      ],
      ({ hash }) => (suspected.has(hash) ? 'best' : 'plain'),
    ),
    notes: shown.length < commits.length ? [`${commits.length - shown.length} more were not raced.`] : [],
  }
}
