import {
  formatDistance,
  formatEnds,
  formatMicros,
  formatPercent,
  formatRate,
  formatRatio,
  formatTimestamp,
} from '@startgrid/cli/numbers.ts'
import { left, type Row, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { capital, listOf, plural } from '@startgrid/cli/text.ts'
import type {
  ComparedCell,
  ComparedRace,
  ComparedRun,
  Comparison,
  Verdict,
} from '../judge/compare/comparison.ts'
import type { Metric } from '../model/figures.ts'
import { METRIC_NAMES } from '../model/names.ts'
import type { Mode } from '../model/result.ts'
import { type Document, ratioChart, type Section } from './document.ts'
import { formatEffect, ONE_LAUNCH } from './summary.ts'

/**
 * What two results say together.
 * @param regressions sentences; null if nobody asked whether there are any
 */
export function documentOfComparison(
  comparison: Comparison,
  regressions: readonly string[] | null,
): Document {
  const { mode, metric, races, unlike } = comparison
  const chart = ratioChart({
    title: `${METRIC_NAMES[metric]}, B over A`,
    caption:
      'With 95 % intervals, without what the cells of a race have in common; in colour what was shown to differ.',
    panels: races.map(({ title, cells }) => ({
      title,
      dots: cells.map(({ name, normalised, plain, verdict }) => ({
        ...(normalised ?? plain),
        name,
        leads: verdict !== 'no difference shown',
      })),
    })),
    columns: 2,
    label: 'B/A',
  })
  return {
    finding: findingOf(comparison),
    subject: `Comparison of ${MODES[mode]}, by ${METRIC_NAMES[metric]}`,
    warnings: [...(regressions ?? []).map((sentence) => `Regression: ${sentence}`), ...unlike],
    ...(chart !== undefined && { chart }),
    summary: conclusions(comparison),
    sections: [
      { title: 'The runs', notes: runsOf(comparison) },
      ...races.map((race) => ({
        title: race.title,
        table: raceTable(race, metric),
        notes: [describeShift(race)],
      })),
      ...leftOf(comparison),
      { title: 'How to read it', notes: LEGEND, place: 'folded' },
    ],
  }
}

/** `Slower: koa/hello direct; no difference shown in 13 of 14 cells` */
function findingOf({ races }: Comparison): string {
  const cells = races.flatMap((race) => race.cells)
  const named = (verdict: Verdict) => cells.filter((cell) => cell.verdict === verdict).map(({ cell }) => cell)
  const parts = (['slower', 'faster'] as const).flatMap((verdict) => {
    const names = named(verdict)
    return names.length === 0 ? [] : [`${verdict}: ${namesOrCount(names)}`]
  })
  const same = named('no difference shown').length
  const rest = same === 0 ? [] : [`no difference shown in ${same} of ${plural(cells.length, 'cell')}`]
  return capital([...parts, ...rest].join('; ') || 'nothing could be compared')
}

const MODES: Readonly<Record<Mode, string>> = {
  native: 'native processes',
  target: 'servers that already ran',
}

function runsOf({ a, b, changes }: Comparison): string[] {
  const run = ({ startedAt, startgrid, command }: ComparedRun) =>
    `${formatTimestamp(startedAt)}, startgrid ${startgrid}: ${command}`
  return [
    `A: ${run(a)}`,
    `B: ${run(b)}`,
    changes.length === 0 ? 'Both measured the same versions.' : `Versions, A then B: ${changes.join('; ')}.`,
  ]
}

function conclusions({ mode, ceiling, smallestEffect }: Comparison): string[] {
  return [
    smallestEffect === null
      ? ONE_LAUNCH
      : `Differences smaller than ${formatEffect(smallestEffect)} would probably have been missed.`,
    ...(mode === 'target' ? [ONE_LAUNCH_EACH] : []),
    ceiling === null
      ? 'The ceiling was not measured in both runs, so whether the machine changed is not known.'
      : `The ceiling, which no app has a part in, ${describeChange(ceiling)}.`,
  ]
}

/** Two launches of the same app differ too, and so do two hours of a network. */
const ONE_LAUNCH_EACH =
  'Each run met one launch: a difference is between these two launches, and between their hours, as likely as between what they run. ' +
  'Measure several launches of each.'

/** `is 4.2 % lower in B` */
function describeChange(ratio: number): string {
  if (Math.abs(ratio - 1) < 0.0005) return 'is the same in B'
  return `is ${formatDistance(ratio)} ${ratio < 1 ? 'lower' : 'higher'} in B`
}

/** What the cells of a race did together, and what two runs cannot tell about it. */
function describeShift({ shift: { rate, cpu }, cells }: ComparedRace): string {
  if (rate === null && cpu === null)
    return `${plural(cells.length, 'cell')}: too few to tell what they have in common, so ratios stand as measured.`
  const parts = [
    ...(rate === null ? [] : [`req/s ${describeChange(rate)}`]),
    ...(cpu === null ? [] : [`CPU per request ${describeChange(cpu)}`]),
  ]
  return `All ${cells.length} cells together (median): ${parts.join(', ')}: the machine, or what the apps share.`
}

/** More are counted: a result of one role against the whole grid leaves dozens. */
const NAMED = 6

function namesOrCount(names: readonly string[]): string {
  return names.length > NAMED ? plural(names.length, 'cell') : listOf(names)
}

function leftOf({ left }: Comparison): Section[] {
  const notes = [...Map.groupBy(left, ({ reason }) => reason)].map(([reason, cells]) => {
    return `${capital(reason)}: ${namesOrCount(cells.map(({ cell }) => cell))}.`
  })
  return notes.length === 0 ? [] : [{ title: 'Not compared', notes }]
}

const TONES: Readonly<Record<Verdict, Row['tone']>> = {
  faster: 'best',
  slower: 'void',
  'no difference shown': 'plain',
}

function raceTable({ cells }: ComparedRace, metric: Metric): Table {
  const format = metric === 'rate' ? formatRate : formatMicros
  const unit = metric === 'rate' ? 'req/s' : 'CPU µs'
  return tableOf<ComparedCell>(
    cells,
    [
      left('framework', 0, ({ name }) => name),
      right(`${unit} A`, 2, ({ a }) => format(a)),
      right(`${unit} B`, 2, ({ b }) => format(b)),
      right('B/A', 0, ({ plain }) => formatRatio(plain.value)),
      right('95 %', 1, ({ plain }) => formatEnds(plain, formatRatio)),
      right('normalised', 0, ({ normalised }) => (normalised === null ? '' : formatRatio(normalised.value))),
      right('95 %', 0, ({ normalised }) => (normalised === null ? '' : formatEnds(normalised, formatRatio))),
      right('p', 3, ({ pAdjusted }) => (pAdjusted === null ? '' : formatP(pAdjusted))),
      right('launches', 4, ({ launches }) => `${launches.a}, ${launches.b}`),
      left('verdict', 0, ({ verdict }) => verdict),
    ],
    ({ verdict }) => TONES[verdict],
  )
}

function formatP(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3)
}

const LEGEND = [
  `B/A: as measured, each run with its own hour of the machine in it, which no interval covers. normalised: the same without what all ` +
    `cells of the race have in common (their median). The verdict is of the normalised ratio where there is one, after Holm's correction ` +
    `over all cells at ${formatPercent(0.05)}.`,
  'A change that all apps share (the runtime, shared code) looks like a change of the machine. To tell them apart, measure A and B in turns.',
]
