import { formatEnds, formatRatio, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Result } from '../result/result.ts'
import type { Since, Step } from '../result/since.ts'
import { type Chart, formatBar, formatPart, ratioChart } from './chart.ts'
import type { Section } from './document.ts'

/** Since which commit two ends differ: a sentence, a chart and a table of the history. */

/** Of a set, so many are named. */
const NAMED = 5
/** From this probability on, a reader is told that it may have come in two steps. */
const PERHAPS = 0.02

/** `Since 3f2a91c "Validate cookies" (97 %): it took 9.4 % (7.2–11.6) of the requests per second`: sentences, the first one says which commit. */
export function describeSince({ steps, several, commits }: Since, result: Result): string[] {
  const nameOf = (hash: string) => {
    const { title = '', skipped, probability = 0 } = commits.find((one) => one.hash === hash) ?? {}
    return `${hash} "${title}" (${formatPart(probability)}${skipped === undefined ? '' : ', not raced'})`
  }
  const describe = ({ set, change }: Step) => {
    const names = set.slice(0, NAMED).map(nameOf)
    const others = set.length - names.length
    const all = others > 0 ? `${names.join(', ')} and ${others} others` : listOf(names)
    const which =
      set.length === 1 ? `since ${all}: it` : `since one of ${plural(set.length, 'commit')}, ${all}: it`
    return change === null ? which.slice(0, -4) : `${which} ${describeChange(change, result)}`
  }
  const [first = '', ...others] = steps.map(describe)
  const skipped = commits.filter((one) => one.skipped !== undefined)
  return [
    steps.length > 1 ? `In two steps: ${[first, ...others].join('; ')}` : `S${first.slice(1)}`,
    ...beforeOf(commits, steps[0], result),
    ...(steps.length === 1 && several >= PERHAPS
      ? [`With ${formatPart(several)}, it came in more than one step`]
      : []),
    ...skipped.map(({ hash, title, skipped = '' }) => `${hash} "${title}" was skipped: ${skipped}`),
  ]
}

/** `took 9.4 % (7.2–11.6) of the requests per second` */
function describeChange({ value, low, high }: Interval, { analysis }: Result): string {
  const isRate = analysis?.findings[0]?.decides !== 'cpu'
  const of = (one: number) => 100 * Math.abs(isRate ? one - 1 : 1 / one - 1)
  const ends = [low, high].flatMap((end) => end ?? []).map(of)
  // It may take and bring.
  const isWide = low !== null && high !== null && low < 1 && high > 1
  const span = isWide
    ? 'less than the noise'
    : ends
        .sort((a, b) => a - b)
        .map((one) => one.toFixed(1))
        .join('–')
  const percent = `${of(value).toFixed(1)} %${span === '' ? '' : ` (${span})`}`
  if (isRate)
    return value < 1
      ? `took ${percent} of the requests per second`
      : `brought ${percent} more requests per second`
  return `${value < 1 ? 'added' : 'saved'} ${percent} of the CPU per request`
}

/** What is known of the last commit before a change. */
function beforeOf(commits: Since['commits'], step: Step | undefined, { experiment }: Result): string[] {
  const [good = ''] = Object.keys(experiment.systems)
  const index = Math.min(...(step?.set ?? []).map((hash) => commits.findIndex((one) => one.hash === hash)))
  const { hash, ratio } = commits.slice(0, index).findLast((one) => one.ratio !== null) ?? {}
  const { low = null, high = null } = ratio ?? {}
  if (low === null || high === null) return []
  return [
    `Before it, ${hash} has ${formatEnds({ value: 1, low, high }, (end) => end.toFixed(3))} times the speed of ${good}`,
  ]
}

export function chartOfSince({ commits, steps }: Since, { experiment }: Result): Chart | undefined {
  const [good = ''] = Object.keys(experiment.systems)
  const dots = commits.flatMap(({ hash, title, ratio, probability }) =>
    ratio === null
      ? []
      : {
          ...ratio,
          name: `${hash.slice(0, 7)} ${cut(title)}`,
          leads: steps.some(({ set }) => set[0] === hash),
          part: probability,
        },
  )
  return ratioChart({
    title: `Commits that were raced, the oldest first, as a part of the speed of ${good}`,
    caption:
      'With 95 % intervals. At the right, how probable it is that the change came with this commit. The scale is logarithmic.',
    label: 'speed',
    panels: [{ title: 'Speed', dots }],
  })
}

function cut(title: string): string {
  return title.length > 26 ? `${title.slice(0, 25)}…` : title
}

/** Commits of which nothing is known and that are not suspected are left out of long histories. */
const MOST_ROWS = 60

export function sectionOfSince({ commits, steps }: Since): Section {
  const suspected = new Set(steps.flatMap(({ set }) => set))
  const shown =
    commits.length <= MOST_ROWS
      ? commits
      : commits.filter(
          ({ hash, ratio, skipped }) => ratio !== null || skipped !== undefined || suspected.has(hash),
        )
  return {
    title: 'Commits, the oldest first',
    table: tableOf(
      shown,
      [
        left('commit', 0, ({ hash }) => hash),
        left('title', 1, ({ title }) => cut(title)),
        left('date', 4, ({ date }) => date.slice(0, 10)),
        right('starts', 3, ({ starts, skipped }) => (skipped === undefined ? String(starts) : 'skipped')),
        right('speed', 0, ({ ratio }) => (ratio === null ? UNKNOWN : formatRatio(ratio.value))),
        right('95 %', 2, ({ ratio }) => formatEnds(ratio, (end) => end.toFixed(3))),
        left('it came with this', 0, ({ probability }) => formatBar(probability).replace(/ +/g, ' ').trim()),
      ],
      ({ hash }) => (suspected.has(hash) ? 'best' : 'plain'),
    ),
    notes: shown.length < commits.length ? [`${commits.length - shown.length} more were not raced.`] : [],
  }
}
