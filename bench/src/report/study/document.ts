import { formatRatio, formatRatioInterval, formatTimestamp, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { left, type Row, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { capital, plural } from '@startgrid/cli/text.ts'
import type { Cell } from '../../model/cell.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, Verdict } from '../../model/figures.ts'

import type { Result } from '../../model/result.ts'
import { type Chart, type Document, ratioChart, type Section, warningsOf } from '../document.ts'

import { provenanceOf } from '../provenance.ts'
import { costChart, costSections, costSentences } from './costs.ts'
import { describeVersions, missingCores, raceSections, startupChart, stepSections } from './tables.ts'

/** What a study says: its claims with their verdicts, and what they rest on. */
export function documentOfStudy(record: Result): Document {
  const study = record.experiment as Study
  const { settings, startedAt, command } = record
  const chart =
    costChart(study, record) ?? ratiosChart(record) ?? startupChart(record, Object.keys(study.races))
  const [, ...sentences] = costSentences(study, record)
  return {
    finding: findingOf(study, record),
    subject: `${capital(study.title)}, a ${settings.profile} run of ${formatTimestamp(startedAt)}`,
    warnings: warningsOf(record),
    ...(chart !== undefined && { chart }),
    summary: sentences.map((sentence) => `${sentence}.`),
    sections: [
      ...findingSections(record),
      ...raceSections(record, study.races),
      { title: 'Where it comes from', notes: conditions(study, record), place: 'folded' },
    ],
    command,
  }
}

/** What a study is for, without what it rests on. */
export function findingSections(record: Result): Section[] {
  const study = record.experiment as Study
  const claims = record.analysis?.claims ?? []
  return [
    ...(claims.length === 0
      ? []
      : [{ title: study.question, table: claimTable(study, record), notes: reasonsOf(record) }]),
    ...costSections(study, record),
    ...stepSections(record),
  ]
}

/** `nginx-proxy, 7 claims: 2 holds, 1 not reproduced here, 4 undecided here` */
function findingOf(study: Study, record: Result): string {
  const { name, title } = study
  const { analysis, cells } = record
  const claims = analysis?.claims ?? []
  if (claims.length === 0) return costSentences(study, record)[0] ?? `${name}: ${title}`
  const parts = [...Map.groupBy(claims, (claim) => verdictOf(claim, cells).split(',')[0] ?? '')]
    .toSorted(([, [one]], [, [other]]) => rankOf(one) - rankOf(other))
    .map(([verdict, group]) => `${group.length} ${verdict}`)
  return `${name}, ${plural(claims.length, 'claim')}: ${parts.join(', ')}`
}

function rankOf(claim: ClaimResult | undefined): number {
  return Object.keys(TONES).indexOf(claim?.verdict ?? '')
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
      ...(analysis?.claims ?? []).map((claim, index) => ({
        title: `${index + 1}. ${claim.says}`,
        dots:
          claim.ratio === null || missingCores(claim, cells) !== null
            ? []
            : [
                { ...claim.ratio, name: 'ours', leads: true },
                { value: claim.published, low: null, high: null, name: 'published', leads: false },
              ],
      })),
      { title: 'CPU per request after each step, over before', dots: steps },
    ],
    columns: 2,
  })
}

/** Numbered, as the notes below it refer to them. */
function claimTable(study: Study, record: Result): Table {
  const { analysis, cells } = record
  const versions = describeVersions(study, record)
  const whyOther = ({ verdict }: ClaimResult) =>
    verdict === 'not reproduced here' && versions !== null ? ` (${versions})` : ''
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

/** With its interval. A machine with too few cores has no ratio that counts. */
export function ratioText(claim: ClaimResult, cells: readonly Cell[]): string {
  const { ratio } = claim
  return ratio === null || missingCores(claim, cells) !== null ? UNKNOWN : formatRatioInterval(ratio)
}

/** Why a claim is undecided, and what else was found: `Claim 3: undecided, because …` */
function reasonsOf({ analysis }: Result): string[] {
  return (analysis?.claims ?? []).flatMap(({ because, undecided }, index) => {
    const known = [undecided === null ? null : `undecided, because ${undecided}.`, because].filter(
      (one) => one !== null,
    )
    return known.length === 0 ? [] : [`Claim ${index + 1}: ${known.join(' ')}`]
  })
}

/** What the figures rest on. */
function conditions({ source }: Study, result: Result): string[] {
  const { heats, slices, sliceMs, openLoop } = result.settings
  const hasLatencies = openLoop !== null && (result.analysis?.openRates ?? []).length > 0
  return [
    ...(source === undefined
      ? []
      : [`The source: ${source.title}, on ${source.machine}, with ${source.tool}.`]),
    `${plural(heats, 'heat')} of each race, ${plural(slices, 'slice')} of ${sliceMs} ms at least per system and heat. A system of one core is on the first one.`,
    ...(hasLatencies
      ? [
          `Open loops last ${openLoop.minMs} to ${openLoop.maxMs} ms after the slices of each heat. Their rate is that of the study, or half of what the slowest system that a claim about latency names (or the slowest of all) could do in the first heat.`,
        ]
      : []),
    ...provenanceOf(result),
  ]
}
