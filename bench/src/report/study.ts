import { formatEnds, formatRatio, formatRatioInterval, orUnknown, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { left, type Row, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { capital, plural, present } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { isProbe, type Race, type Study } from '../result/experiment.ts'
import type { ClaimResult, StepResult, Verdict } from '../result/figures.ts'
import { METRICS, type Metric } from '../result/metrics.ts'
import type { Cell, Result } from '../result/result.ts'
import { type Chart, ratioChart } from './chart.ts'
import { costChart, costSections, costSentences, signed } from './costs.ts'
import type { Findings, Section } from './document.ts'
import { entriesOf, systemNotes, systemsTable } from './systems.ts'

/** What a study says: its claims with their verdicts, and what they rest on. */
export function findingsOfStudy(result: Result): Findings {
  const study = result.experiment as Study
  const [, ...sentences] = costSentences(result)
  return {
    finding: findingOf(study, result),
    subject: `${capital(study.title)}, a ${result.settings.profile} run`,
    chart: costChart(result) ?? ratiosChart(result),
    summary: sentences.map((sentence) => `${sentence}.`),
    sections: [...findingSections(result), ...raceSections(result, study.races)],
    conditions: conditionsOf(study, result),
  }
}

/** What a study is for, without what it rests on. */
export function findingSections(record: Result): Section[] {
  const study = record.experiment as Study
  const claims = record.analysis?.claims ?? []
  const section = { title: study.question, table: claimTable(study, record), notes: reasonsOf(record) }
  return [...(claims.length === 0 ? [] : [section]), ...costSections(record), ...stepSections(record)]
}

/** All systems of each race. */
export function raceSections(result: Result, races: Study['races'] = {}): Section[] {
  return [...Map.groupBy(result.cells, ({ race }) => race)].map(([name, cells]) => {
    const entries = entriesOf(result, cells)
    const own = races[name]
    // What a probe counts per second need not be requests.
    const counts = own !== undefined && isProbe(own) ? 'per s' : 'req/s'
    return {
      title: titleOf(name, own, cells),
      table: systemsTable(entries, '', counts),
      notes: systemNotes(entries, name, result),
    }
  })
}

function titleOf(race: string, own: Race | undefined, cells: readonly Cell[]): string {
  const [first] = cells
  if (own !== undefined && isProbe(own) && own.tool !== undefined) return `${race}: ${own.tool}`
  if (first?.workload == null) return race
  // A race of commands is named by what is asked.
  const asked = own === undefined ? '' : `: ${first.workload}`
  return `${race}${asked}, ${first.connections.toLocaleString('en-US')} connections`
}

function stepSections(result: Result): Section[] {
  const steps = result.analysis?.steps ?? []
  const [first] = steps
  if (first === undefined) return []
  if (first.ratios !== undefined) return [ratiosSection(result, steps, first.ratios)]
  const table = tableOf(steps, [
    left('what', 0, ({ what }) => what),
    right('CPU µs', 0, ({ cpu }) => (cpu === null ? UNKNOWN : signed(cpu.to - cpu.from))),
    right('factor', 0, ({ ratio }) => orUnknown(ratio?.value, formatRatio)),
    right('95 %', 0, ({ ratio }) => formatEnds(ratio, formatRatio)),
  ])
  return [{ title: 'What each step costs, per request', table, notes: [] }]
}

/** What a step changes in several metrics. One that cannot be measured says why. */
function ratiosSection(
  { analysis }: Result,
  steps: readonly StepResult[],
  ratios: NonNullable<StepResult['ratios']>,
): Section {
  const whyVoid = ({ race, to }: StepResult) =>
    analysis?.cells.find((cell) => cell.race === race && cell.system === to)?.void ?? null
  const table = tableOf(steps, [
    left('what', 0, (step) => present([step.what, whyVoid(step)]).join(': ')),
    ...(Object.keys(ratios) as Metric[]).map((metric) =>
      right<StepResult>(METRICS[metric].name, 0, (step) =>
        step.ratios?.[metric] ? formatRatioInterval(step.ratios[metric]) : UNKNOWN,
      ),
    ),
  ])
  return { title: 'What each step changes: ratios (95 %)', table, notes: [] }
}

/** `nginx-proxy, 7 claims: 2 holds, 1 not reproduced here, 4 undecided here` */
function findingOf(study: Study, record: Result): string {
  const { name, title } = study
  const { analysis, cells } = record
  const claims = analysis?.claims ?? []
  if (claims.length === 0) return costSentences(record)[0] ?? `${name}: ${title}`
  const placeOf = (claim?: ClaimResult) => Object.keys(TONES).indexOf(claim?.verdict ?? '')
  const parts = [...Map.groupBy(claims, (claim) => verdictOf(claim, cells).split(',')[0] ?? '')]
    .toSorted(([, [one]], [, [other]]) => placeOf(one) - placeOf(other))
    .map(([verdict, group]) => `${group.length} ${verdict}`)
  return `${name}, ${plural(claims.length, 'claim')}: ${parts.join(', ')}`
}

/** The verdict, or how many cores this machine lacks for one. */
export function verdictOf(claim: ClaimResult, cells: readonly Cell[]): string {
  const cores = missingCores(claim, cells)
  return cores === null ? claim.verdict : `needs ${cores} cores`
}

/** Our ratios with their intervals, the published ones beside them, and what each step costs. */
function ratiosChart({ analysis, cells }: Result): Chart | undefined {
  const steps = (analysis?.steps ?? []).flatMap(({ what, ratio }) =>
    ratio === null ? [] : [{ ...ratio, name: what, leads: true }],
  )
  return ratioChart({
    title: 'Our ratios, and the published ones',
    caption: 'With 95 % intervals. The scale is logarithmic; an arrow points to what is beyond it.',
    panels: [
      ...(analysis?.claims ?? []).map((claim, index) => {
        const ours = ratioOf(claim, cells)
        const published = { value: claim.published, low: null, high: null, name: 'published', leads: false }
        const dots = ours === null ? [] : [{ ...ours, name: 'ours', leads: true }, published]
        return { title: `${index + 1}. ${claim.says}`, dots }
      }),
      { title: 'CPU per request after each step, over before', dots: steps },
    ],
    columns: 2,
  })
}

/** Numbered, as the notes below it refer to them. */
function claimTable(study: Study, record: Result): Table {
  const { analysis, cells } = record
  // The source's versions and ours: `express 4 → 5.3.0`.
  const versions = Object.entries(study.source?.versions ?? {}).map(
    ([name, theirs]) => `${name} ${theirs} → ${record.versions.packages[name] ?? 'unknown'}`,
  )
  const whyOther = ({ verdict }: ClaimResult) =>
    verdict === 'not reproduced here' && versions.length > 0 ? ` (${versions.join(', ')})` : ''
  const claims = (analysis?.claims ?? []).map((claim, index) => ({ claim, number: index + 1 }))
  return tableOf(
    claims,
    [
      left('claim', 0, ({ claim, number }) => `${number}. ${claim.says}`),
      right('published', 0, ({ claim }) => formatRatio(claim.published)),
      right('ours (95 %)', 0, ({ claim }) => ratioText(claim, cells)),
      left('verdict', 0, ({ claim }) => `${verdictOf(claim, cells)}${whyOther(claim)}`),
    ],
    ({ claim }) => TONES[claim.verdict],
  )
}

const TONES: Readonly<Record<Verdict, Row['tone']>> = {
  holds: 'best',
  'direction holds, size differs': 'plain',
  'direction holds, size undecided': 'plain',
  'not reproduced here': 'void',
  'undecided here': 'plain',
}

/** A machine with too few cores has none that counts. */
function ratioOf(claim: ClaimResult, cells: readonly Cell[]): Interval | null {
  return missingCores(claim, cells) === null ? claim.ratio : null
}

export function ratioText(claim: ClaimResult, cells: readonly Cell[]): string {
  return orUnknown(ratioOf(claim, cells), formatRatioInterval)
}

/** Why a claim is undecided, and what else was found: `Claim 3: undecided, because …` */
function reasonsOf({ analysis }: Result): string[] {
  return (analysis?.claims ?? []).flatMap(({ because, undecided }, index) => {
    const known = present([undecided && `undecided, because ${undecided}.`, because])
    return known.length === 0 ? [] : [`Claim ${index + 1}: ${known.join(' ')}`]
  })
}

/** How many cores an undecided claim needs, that of the generator included; null if this machine has them. */
function missingCores(
  { race, against = race, over, under, verdict }: ClaimResult,
  cells: readonly Cell[],
): number | null {
  const small = cells.filter(
    ({ race: own, app, cores }) =>
      ((own === race && app === over) || (own === against && app === under)) && cores.given < cores.wanted,
  )
  if (verdict !== 'undecided here' || small.length === 0) return null
  return Math.max(...small.map(({ cores, workload }) => cores.wanted + (workload === null ? 0 : 1)))
}

function conditionsOf({ source }: Study, result: Result): string[] {
  const { heats, slices, sliceMs, openLoop } = result.settings
  const hasLatencies = openLoop !== null && (result.analysis?.openRates ?? []).length > 0
  return present([
    source && `The source: ${source.title}, on ${source.machine}, with ${source.tool}.`,
    `${plural(heats, 'heat')} of each race, ${plural(slices, 'slice')} of ${sliceMs} ms at least per system and heat. A system of one core is on the first one.`,
    hasLatencies &&
      `Open loops last ${openLoop.minMs} to ${openLoop.maxMs} ms after the slices of each heat. Their rate is that of the study, or half of what the slowest system that a claim about latency names (or the slowest of all) could do in the first heat.`,
  ])
}
