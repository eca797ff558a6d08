import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatParts,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatRatio,
  formatRatioInterval,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, right, tableOf, withoutUnknown } from '@startgrid/cli/table.ts'
import { listOf } from '@startgrid/cli/text.ts'
import { unlikeNginxes } from '../../judge/study/claim.ts'
import type { Cell } from '../../model/cell.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, PublishedFigures, StudyFigures } from '../../model/figures.ts'
import type { NginxVersion } from '../../model/provenance.ts'
import type { StudyResult } from '../../model/result.ts'
import type { Section } from '../document.ts'
import { signed } from './costs.ts'
import { type Entry, entriesOf, formatSeconds, ifCounted, isCounted } from './section.ts'

/** A study's figures as tables, the same on a terminal and in Markdown. */

/** All systems of each race. */
export function raceSections(result: StudyResult): Section[] {
  const races = [...Map.groupBy(result.cells, ({ race }) => race)]
  return races.map(([race, cells]) => {
    const entries = entriesOf(result, cells)
    return {
      title: titleOf(race, cells),
      table: withoutUnknown(
        tableOf<Entry>(entries, COLUMNS, ({ shown }) => (isCounted(shown) ? 'plain' : 'void')),
      ),
      notes: [
        ...entries.flatMap(({ cell, shown }) => [...noteOf(cell, shown), ...sharesOf(cell, shown)]),
        ...handshakesOf(entries),
        ...otherNginxes(result, cells),
      ],
    }
  })
}

const COLUMNS: readonly ItemColumn<Entry>[] = [
  left('system', 0, ({ cell }) => cell.title),
  right('per s', 0, ({ shown }) => {
    if (shown === undefined) return 'skipped'
    return shown.voided ? 'void' : orUnknown(shown.figures.rate?.value, formatRate)
  }),
  right(
    '95 %',
    1,
    ifCounted(({ figures: { rate } }) => (rate === undefined ? '' : formatRateEnds(rate))),
  ),
  right(
    'CPU µs',
    0,
    ifCounted(({ cpu, figures }) => {
      if (cpu.app !== null) return formatParts(cpu, formatMicros)
      return figures.cpu === undefined ? '' : formatMicros(figures.cpu.value)
    }),
  ),
  right(
    'conn/req',
    2,
    ifCounted(({ upstreamConnections: opened }) => (opened === null ? '' : formatRatio(opened))),
  ),
  right(
    'bytes',
    2,
    ifCounted(({ figures: { bytes } }) => (bytes === undefined ? '' : formatRate(bytes.value))),
  ),
  right(
    'to app',
    0,
    ifCounted(({ figures: { origin } }) => (origin === undefined ? '' : formatPercent(origin.value))),
  ),
  right(
    'longest ms',
    0,
    ifCounted(({ figures: { longest } }) => formatSeconds(longest)),
  ),
  right(
    'oldest ms',
    0,
    ifCounted(({ figures: { staleness } }) => formatSeconds(staleness)),
  ),
  right(
    'start ms',
    0,
    ifCounted(({ figures }) => formatSeconds(figures.startup)),
  ),
  right(
    'MB ready',
    1,
    ifCounted(({ figures: { 'ready-memory': ready } }) =>
      ready === undefined ? '' : formatMegabytes(ready.value),
    ),
  ),
  right(
    'MB peak',
    1,
    ifCounted(({ figures: { 'peak-memory': peak } }) =>
      peak === undefined ? '' : formatMegabytes(peak.value),
    ),
  ),
]

function titleOf(race: string, cells: readonly Cell[]): string {
  const [first] = cells
  if (first?.workload == null) return race
  return `${race}: ${first.workload}, ${first.connections?.toLocaleString('en-US')} connections`
}

function noteOf({ title, skipped, cores }: Cell, figures: StudyFigures | undefined): string[] {
  if (skipped !== null) return [`${title} was skipped: ${skipped}.`]
  const failed = figures?.gates.find(({ verdict }) => verdict === 'failed')
  if (failed !== undefined) return [`${title} is void: ${failed.finding}.`]
  if (cores.given < cores.wanted)
    return [`${title} had ${cores.given} of the ${cores.wanted} cores that it can use.`]
  return []
}

/** Which systems did not run in the usual NGINX. */
function otherNginxes({ nginx: usual }: StudyResult, cells: readonly Cell[]): string[] {
  const others = cells.filter(
    ({ nginx, skipped }) => skipped === null && nginx !== null && nginx.version !== usual?.version,
  )
  return [...Map.groupBy(others, ({ nginx }) => (nginx === null ? '' : nameNginx(nginx)))].map(
    ([nginx, own]) => `${listOf(own.map(({ title }) => title))} ran in ${nginx}.`,
  )
}

/** What the connections over TLS agreed on. */
function handshakesOf(entries: readonly Entry[]): string[] {
  const known = entries.flatMap(({ cell, shown }) =>
    (shown?.handshakes ?? []).map((handshake) => ({ handshake, title: cell.title })),
  )
  return [...Map.groupBy(known, ({ handshake }) => handshake)].map(
    ([handshake, own]) => `${handshake}: ${own.map(({ title }) => title).join('; ')}.`,
  )
}

/** How a cluster's requests were spread over its workers. */
function sharesOf({ title }: Cell, figures: StudyFigures | undefined): string[] {
  const shares = figures?.workerShares ?? null
  if (shares === null) return []
  return [
    `${title}: a worker served ${formatPercent(shares.least)} to ${formatPercent(shares.most)} of the requests.`,
  ]
}

/** What each thing costs. @returns null if the study takes nothing apart */
export function stepSection(result: StudyResult): Section | null {
  const steps = result.analysis?.steps ?? []
  if (steps.length === 0) return null
  const table = tableOf(steps, [
    left('what', 0, ({ what }) => what),
    right('CPU µs', 0, ({ cpu }) => (cpu === null ? UNKNOWN : signed(cpu.to - cpu.from))),
    right('factor', 0, ({ ratio }) => orUnknown(ratio?.value, formatRatio)),
    right('95 %', 0, ({ ratio }) => formatEnds(ratio, formatRatio)),
  ])
  const notes = steps.flatMap(({ what, race, from, to }) => {
    const cells = [from, to].map((system) =>
      result.cells.find((one) => one.race === race && one.app === system),
    )
    const unlike = unlikeNginxes(cells)
    return unlike === null ? [] : [`${what}: between ${unlike}, so that a part may be theirs.`]
  })
  return { title: 'What each step costs, per request', table, notes }
}

/** Rates over the number of workers. */
export function scalingSections(result: StudyResult): Section[] {
  return (result.analysis?.scaling ?? []).map(({ title, points }) => ({
    title: `${title}: rate against one worker`,
    table: tableOf(points, [
      right('workers', 0, ({ workers }) => String(workers)),
      right('rate', 0, ({ ratio }) => formatRatio(ratio.value)),
      right('95 %', 0, ({ ratio }) => formatEnds(ratio, formatRatio)),
      right('cores', 0, ({ cores }) => String(cores)),
    ]),
    notes: [],
  }))
}

/** The source's own tools. @returns null unless `--as-published` */
export function publishedSection(study: Study, result: StudyResult): Section | null {
  const { published } = result
  if (published === null) return null
  const table = tableOf(
    published,
    [
      left('system', 0, ({ system }) => study.systems[system]?.title ?? system),
      left('race', 0, ({ race }) => race),
      left('command', 0, ({ command }) => command),
      right('req/s', 0, (one) => {
        if (one.failure !== null) return 'failed'
        return `${formatRate(one.rate)}${errorsOf(one) > 0 ? ' !' : ''}`
      }),
      right('errors', 0, (one) => (errorsOf(one) > 0 ? errorsOf(one).toLocaleString('en-US') : '')),
    ],
    (one) => (one.failure !== null || errorsOf(one) > 0 ? 'void' : 'plain'),
  )
  return {
    title: "As published: the source's tool, unpinned; decides nothing",
    table,
    notes: publishedNotes(study, result, published),
  }
}

function errorsOf({ errors }: PublishedFigures): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/** From this factor on the two profiles tell different stories. */
const APART = 1.25

/** What failed, what is marked, and where the source's tool disagrees with ours, with the reason. */
function publishedNotes(study: Study, result: StudyResult, published: readonly PublishedFigures[]): string[] {
  const failures = published.flatMap(({ system, failure }) =>
    failure === null ? [] : [`${study.systems[system]?.title ?? system}: ${failure}.`],
  )
  const marked = published.some((one) => errorsOf(one) > 0)
  const apart = (result.analysis?.claims ?? []).flatMap((claim) => describeApart(claim, published) ?? [])
  const reasons = (study.published ?? [])
    .filter(({ race }) => apart.some((one) => one.race === race))
    .map(({ differs }) => differs)
  return [
    ...(marked
      ? ['! marks runs with errors: what failed is not counted, which makes a server look faster.']
      : []),
    ...failures,
    ...apart.map(({ text }) => text),
    ...new Set(reasons),
  ]
}

/** @returns null if they agree, or one of them has no figure */
function describeApart(
  { id, race, over, under, metric, ratio }: ClaimResult,
  published: readonly PublishedFigures[],
): { race: string; text: string } | null {
  const [a, b] = [over, under].map((system) =>
    published.find((one) => one.race === race && one.system === system && one.failure === null),
  )
  if (metric !== 'rate' || ratio === null || a === undefined || b === undefined || b.rate === 0) return null
  const theirs = a.rate / b.rate
  const factor = theirs / ratio.value
  if (Math.max(factor, 1 / factor) <= APART) return null
  return { race, text: `${id}: ${formatRatio(theirs)} as published, ${formatRatioInterval(ratio)} ours.` }
}

/** `NGINX 1.30.2 (docker) with njs 1.0.2` */
function nameNginx({ kind, version, njs }: NginxVersion): string {
  return `NGINX ${version} (${kind})${njs === null ? '' : ` with njs ${njs.version}`}`
}
