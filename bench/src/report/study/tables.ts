import {
  formatEnds,
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
import type { Row } from '@startgrid/cli/table.ts'
import { listOf } from '@startgrid/cli/text.ts'
import { nameNginx } from '../../environments/study/nginxes.ts'
import { unlikeNginxes } from '../../judge/study/claim.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, PublishedFigures, StudyFigures } from '../../model/figures.ts'
import type { Cell, StudyResult } from '../../model/result.ts'
import type { Section } from '../document.ts'
import { figure, figuresOf, formatSeconds, name } from './section.ts'

/** A study's figures as tables, the same on a terminal and in Markdown. */

/** All systems of each race. */
export function raceSections(result: StudyResult): Section[] {
  const races = [...Map.groupBy(result.cells, ({ race }) => race)]
  return races.map(([race, cells]) => {
    const rows = cells.map((cell) => ({ cell, figures: figuresOf(result, cell) }))
    return {
      title: titleOf(race, cells),
      table: {
        columns: [
          name('system'),
          figure('per s'),
          figure('95 %', 1),
          figure('CPU µs'),
          figure('conn/req', 2),
          figure('start ms'),
        ],
        rows: rows.map(({ cell, figures }) => rowOf(cell, figures)),
      },
      notes: [
        ...rows.flatMap(({ cell, figures }) => [...noteOf(cell, figures), ...sharesOf(cell, figures)]),
        ...otherNginxes(result, cells),
      ],
    }
  })
}

function titleOf(race: string, cells: readonly Cell[]): string {
  const [first] = cells
  if (first?.workload == null) return race
  return `${race}: ${first.workload}, ${first.connections?.toLocaleString('en-US')} connections`
}

function rowOf({ title }: Cell, shown: StudyFigures | undefined): Row {
  if (shown === undefined || shown.voided)
    return { tone: 'void', cells: [title, shown === undefined ? 'skipped' : 'void', '', '', '', ''] }
  const { figures, cpu, upstreamConnections } = shown
  const micros = (seconds: number | undefined) => (seconds === undefined ? '' : formatMicros(seconds))
  return {
    tone: 'plain',
    cells: [
      title,
      orUnknown(figures.rate?.value, formatRate),
      figures.rate === undefined ? '' : formatRateEnds(figures.rate),
      cpu.app === null ? micros(figures.cpu?.value) : formatParts(cpu, formatMicros),
      upstreamConnections === null ? '' : formatRatio(upstreamConnections),
      formatSeconds(figures.startup),
    ],
  }
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
  const rows = steps.map(({ what, cpu, ratio }): Row => {
    const change = cpu === null ? UNKNOWN : formatChange(cpu.to - cpu.from)
    const factor = ratio === null ? UNKNOWN : formatRatio(ratio.value)
    return { tone: 'plain', cells: [what, change, factor, formatEnds(ratio, formatRatio)] }
  })
  const columns = [name('what'), figure('CPU µs'), figure('factor'), figure('95 %')]
  const notes = steps.flatMap(({ what, race, from, to }) => {
    const cells = [from, to].map((system) =>
      result.cells.find((one) => one.race === race && one.app === system),
    )
    const unlike = unlikeNginxes(cells)
    return unlike === null ? [] : [`${what}: between ${unlike}, so that a part may be theirs.`]
  })
  return { title: 'What each step costs, per request', table: { columns, rows }, notes }
}

function formatChange(seconds: number): string {
  return `${seconds < 0 ? '−' : '+'}${formatMicros(Math.abs(seconds))}`
}

/** Rates over the number of workers. */
export function scalingSections(result: StudyResult): Section[] {
  return (result.analysis?.scaling ?? []).map(({ title, points }) => ({
    title: `${title}: rate against one worker`,
    table: {
      columns: [figure('workers'), figure('rate'), figure('95 %'), figure('cores')],
      rows: points.map(
        ({ workers, ratio, cores }): Row => ({
          tone: 'plain',
          cells: [String(workers), formatRatio(ratio.value), formatEnds(ratio, formatRatio), String(cores)],
        }),
      ),
    },
    notes: [],
  }))
}

/** The source's own tools. @returns null unless `--as-published` */
export function publishedSection(study: Study, result: StudyResult): Section | null {
  const { published } = result
  if (published === null) return null
  const rows = published.map((one): Row => {
    const title = study.systems[one.system]?.title ?? one.system
    if (one.failure !== null) return { tone: 'void', cells: [title, one.race, one.command, 'failed', ''] }
    const errors = errorsOf(one)
    const tone = errors > 0 ? 'void' : 'plain'
    return {
      tone,
      cells: [
        title,
        one.race,
        one.command,
        `${formatRate(one.rate)}${errors > 0 ? ' !' : ''}`,
        errors > 0 ? errors.toLocaleString('en-US') : '',
      ],
    }
  })
  const columns = [name('system'), name('race'), name('command'), figure('req/s'), figure('errors')]
  return {
    title: "As published: the source's tool, unpinned; decides nothing",
    table: { columns, rows },
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
