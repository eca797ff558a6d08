import { formatRatio, formatRatioInterval, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { left, type Row, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { capital, plural } from '@startgrid/cli/text.ts'
import type { Cell } from '../../model/cell.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, Verdict } from '../../model/figures.ts'
import type { Result } from '../../model/result.ts'
import { type Chart, type Document, ratioChart, warningsOf } from '../document.ts'
import { provenanceOf } from '../provenance.ts'
import { costChart, costSections, costSentences } from './costs.ts'
import { describeVersions, missingCores, raceSections, startupChart, stepSections } from './tables.ts'

/** What a study says: its claims with their verdicts, and what they rest on. */
export function documentOfStudy(record: Result): Document {
  const study = record.experiment as Study
  const { settings, startedAt, analysis, command } = record
  const claims = analysis?.claims ?? []
  const chart =
    claimChart(claims, record.cells) ??
    costChart(study, record) ??
    startupChart(record, Object.keys(study.races))
  const [, ...sentences] = costSentences(study, record)
  return {
    finding: findingOf(study, record),
    subject: `${capital(study.title)}, a ${settings.profile} run of ${formatTimestamp(startedAt)}`,
    warnings: warningsOf(record),
    ...(chart !== undefined && { chart }),
    summary: sentences.map((sentence) => `${sentence}.`),
    sections: [
      ...(claims.length === 0
        ? []
        : [{ title: study.question, table: claimTable(study, record), notes: reasonsOf(record) }]),
      ...costSections(study, record),
      ...raceSections(record, study.races),
      ...stepSections(record),
      { title: 'Where it comes from', notes: conditions(study, record), place: 'folded' },
    ],
    command,
  }
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
function verdictOf(claim: ClaimResult, cells: readonly Cell[]): string {
  const cores = missingCores(claim, cells)
  return cores === null ? claim.verdict : `needs ${cores} cores`
}

/** Our ratios with their intervals, and the published ones beside them. */
function claimChart(claims: readonly ClaimResult[], cells: readonly Cell[]): Chart | undefined {
  return ratioChart({
    title: 'Our ratios, and the published ones',
    caption: 'With 95 % intervals. The scale is logarithmic; an arrow points to what is beyond it.',
    panels: claims.map((claim, index) => ({
      title: `${index + 1}. ${sayingOf(claim)}`,
      dots:
        claim.ratio === null || missingCores(claim, cells) !== null
          ? []
          : [
              { ...claim.ratio, name: 'ours', leads: true },
              { value: claim.published, low: null, high: null, name: 'published', leads: false },
            ],
    })),
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
      left('claim', 0, ({ claim, number }) => `${number}. ${sayingOf(claim)}`),
      right('published', 0, ({ claim }) => publishedText(claim)),
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

/** A machine with too few cores has no ratio that counts. */
function ratioText(claim: ClaimResult, cells: readonly Cell[]): string {
  const { ratio } = claim
  return ratio === null || missingCores(claim, cells) !== null ? '—' : formatRatioInterval(ratio)
}

/** `Ours: wrk gets as many responses` */
export function sayingOf({ says, ours }: ClaimResult): string {
  return ours ? `Ours: ${says}` : says
}

/** `1.38`, or `1.00 expected` of a question of ours. */
export function publishedText({ published, ours }: ClaimResult): string {
  return `${formatRatio(published)}${ours ? ' expected' : ''}`
}

/** The claim, its published ratio, ours, and the verdict, for the table of all studies. */
export function claimCells(claim: ClaimResult, cells: readonly Cell[]): string[] {
  return [sayingOf(claim), publishedText(claim), ratioText(claim, cells), verdictOf(claim, cells)]
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
