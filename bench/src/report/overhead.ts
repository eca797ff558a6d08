import { fileURLToPath } from 'node:url'
import {
  formatMicros,
  formatPercent,
  formatRatioInterval,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { left, markdownTable, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { NGINX, pageOf, systemOf } from '../../studies/overhead/study.ts'
import { writeBetween } from '../publish.ts'
import type { Analysis, CellFigures } from '../result/figures.ts'
import type { Result } from '../result/result.ts'
import { ResultError } from '../result/result-file.ts'

/** The tables of the study `overhead` in docs/choosing-a-framework.md: microseconds of CPU per request, and what other ways cost as a part of that. */

function frameworkTable(analysis: Analysis, races: readonly string[]): Table {
  const costs = (way: string) => (race: string) => cost(analysis, race, way)
  const over = (way: string, other: string) => (race: string) => ratio(analysis, race, way, other)
  return tableOf(races, [
    left('', 0, (race) => race),
    right('bare', 0, costs('bare')),
    right('app', 0, costs('app')),
    right('bare / app', 0, over('bare', 'app')),
    right('app with log', 0, costs('logged')),
    right('bare / app with log', 0, over('bare', 'logged')),
    right('usual packages', 0, costs('usual')),
    right('usual / app with log', 0, over('usual', 'logged')),
  ])
}

function pageTable(analysis: Analysis, races: readonly string[]): Table {
  return tableOf(races, [
    left('', 0, (race) => race),
    right('bare', 0, (race) => cost(analysis, race, 'bare')),
    right('app with log', 0, (race) => cost(analysis, race, 'logged')),
    right('bare / app with log', 0, (race) => ratio(analysis, race, 'bare', 'logged')),
  ])
}

function nginxTable(analysis: Analysis): Table {
  const rows = [
    { name: 'connections kept open', bare: 'bare', ours: 'ours' },
    { name: 'a connection per request', bare: 'bare-naive', ours: 'ours-naive' },
  ]
  return tableOf(rows, [
    left('', 0, ({ name }) => name),
    right('bare proxy_pass', 0, ({ bare }) => cost(analysis, NGINX, bare)),
    right('of it NGINX', 0, ({ bare }) => proxyCost(analysis, bare)),
    right('our NGINX', 0, ({ ours }) => cost(analysis, NGINX, ours)),
    right('of it NGINX', 0, ({ ours }) => proxyCost(analysis, ours)),
    right('bare / ours', 0, ({ bare, ours }) => ratio(analysis, NGINX, bare, ours)),
    right('rate against direct', 0, ({ ours }) =>
      orUnknown(ratioOf(analysis, NGINX, 'direct', ours)?.value, formatPercent),
    ),
  ])
}

function figuresOf({ cells }: Analysis, race: string, way: string): CellFigures | undefined {
  return cells.find((one) => one.race === race && one.system === systemOf(race, way) && one.void === null)
}

/** Of app and proxy together, in CPU time or, where the system does not tell, the time per response. */
function cost(analysis: Analysis, race: string, way: string): string {
  const { cpu, rate } = figuresOf(analysis, race, way)?.figures ?? {}
  return orUnknown(cpu?.value ?? (rate && 1 / rate.value), formatMicros)
}

function proxyCost(analysis: Analysis, way: string): string {
  return orUnknown(figuresOf(analysis, NGINX, way)?.cpu.proxy, formatMicros)
}

function ratioOf({ steps }: Analysis, race: string, over: string, under: string): Interval | null {
  const [to, from] = [systemOf(race, over), systemOf(race, under)]
  return steps.find((step) => step.race === race && step.to === to && step.from === from)?.ratio ?? null
}

function ratio(analysis: Analysis, race: string, over: string, under: string): string {
  const found = ratioOf(analysis, race, over, under)
  return found === null ? UNKNOWN : formatRatioInterval(found)
}

function tablesOf(analysis: Analysis): Table[] {
  const races = [...new Set(analysis.cells.map(({ race }) => race))]
  const frameworks = races.filter((race) => races.includes(pageOf(race)))
  return [
    ...(frameworks.length > 0 ? [frameworkTable(analysis, frameworks)] : []),
    ...(frameworks.length > 0 ? [pageTable(analysis, frameworks.map(pageOf))] : []),
    ...(races.includes(NGINX) ? [nginxTable(analysis)] : []),
  ]
}

const MARKS = {
  begin: '<!-- overhead: pnpm bench study overhead -->',
  end: '<!-- end of overhead -->',
} as const

const PAGE = fileURLToPath(new URL('../../../docs/choosing-a-framework.md', import.meta.url))

/**
 * Writes the tables into docs/choosing-a-framework.md, between their two marks.
 * @throws {ResultError} if the page has no place for them, or a system was skipped
 */
export function writeOverhead(
  { analysis, cells, settings, versions, machine, startedAt }: Result,
  page = PAGE,
): void {
  const skipped = cells.find((cell) => cell.skipped !== null)
  if (analysis === null || skipped !== undefined)
    throw new ResultError(
      `${page} is as it was: ${skipped?.title ?? 'a system'} was not measured (${skipped?.skipped ?? 'no heat ended'}).`,
    )
  const tables = tablesOf(analysis).map((table) => markdownTable(table, 0))
  const { heats, slices, sliceMs } = settings
  const about =
    `Microseconds of CPU per request, 64 connections (pages: 8), ${heats} launches of ${slices} slices of ${sliceMs} ms. Measured by \`pnpm bench study overhead\` on ` +
    `${startedAt.slice(0, 10)} at commit ${versions.startgrid} on ${describeMachine(machine)}.`
  writeBetween(page, MARKS, [...tables, about].join('\n\n'))
}
