import { fileURLToPath } from 'node:url'
import {
  formatMicros,
  formatPercent,
  formatRatioInterval,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { markdownTable, type Table } from '@startgrid/cli/table.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { NGINX, systemOf } from '../../studies/overhead/study.ts'
import type { StudyAnalysis, StudyFigures } from '../model/figures.ts'
import type { StudyResult } from '../model/result.ts'
import { ResultError } from '../model/result-file.ts'
import { writeBetween } from './output.ts'

/** The tables of the study `overhead` in docs/choosing-a-framework.md: microseconds of CPU per request, and what a way without the duties costs as a part of that. */

const right = (heading: string) => ({ heading, align: 'right' as const, priority: 0 })

function frameworkTable(analysis: StudyAnalysis, races: readonly string[]): Table {
  return {
    columns: [
      { heading: '', align: 'left', priority: 0 },
      right('bare'),
      right('+ headers, id'),
      right('app'),
      right('bare / app'),
      right('+ headers, id / app'),
      right('app with log'),
      right('+ headers, id / app with log'),
    ],
    rows: races.map((race) => ({
      tone: 'plain',
      cells: [
        race,
        cost(analysis, race, 'bare'),
        cost(analysis, race, 'headers'),
        cost(analysis, race, 'app'),
        ratio(analysis, race, 'bare', 'app'),
        ratio(analysis, race, 'headers', 'app'),
        cost(analysis, race, 'logged'),
        ratio(analysis, race, 'headers', 'logged'),
      ],
    })),
  }
}

function nginxTable(analysis: StudyAnalysis): Table {
  const rows = [
    ['connections kept open', 'bare', 'ours'],
    ['a connection per request', 'bare-naive', 'ours-naive'],
  ] as const
  return {
    columns: [
      { heading: '', align: 'left', priority: 0 },
      right('bare proxy_pass'),
      right('of it NGINX'),
      right('our NGINX'),
      right('of it NGINX'),
      right('bare / ours'),
      right('rate against direct'),
    ],
    rows: rows.map(([name, bare, ours]) => ({
      tone: 'plain',
      cells: [
        name,
        cost(analysis, NGINX, bare),
        proxyCost(analysis, bare),
        cost(analysis, NGINX, ours),
        proxyCost(analysis, ours),
        ratio(analysis, NGINX, bare, ours),
        orUnknown(ratioOf(analysis, NGINX, 'direct', ours)?.value, formatPercent),
      ],
    })),
  }
}

function figuresOf({ cells }: StudyAnalysis, race: string, way: string): StudyFigures | undefined {
  return cells.find((one) => one.race === race && one.system === systemOf(race, way) && !one.voided)
}

/** Of app and proxy together, in CPU time or, where the system does not tell, the time per response. */
function cost(analysis: StudyAnalysis, race: string, way: string): string {
  const { cpu, rate } = figuresOf(analysis, race, way)?.figures ?? {}
  return orUnknown(cpu?.value ?? (rate && 1 / rate.value), formatMicros)
}

function proxyCost(analysis: StudyAnalysis, way: string): string {
  return orUnknown(figuresOf(analysis, NGINX, way)?.cpu.proxy, formatMicros)
}

function ratioOf({ steps }: StudyAnalysis, race: string, over: string, under: string): Interval | null {
  const [to, from] = [systemOf(race, over), systemOf(race, under)]
  return steps.find((step) => step.race === race && step.to === to && step.from === from)?.ratio ?? null
}

function ratio(analysis: StudyAnalysis, race: string, over: string, under: string): string {
  const found = ratioOf(analysis, race, over, under)
  return found === null ? UNKNOWN : formatRatioInterval(found)
}

function tablesOf(analysis: StudyAnalysis): Table[] {
  const races = [...new Set(analysis.cells.map(({ race }) => race))]
  const frameworks = races.filter((race) => race !== NGINX)
  return [
    ...(frameworks.length > 0 ? [frameworkTable(analysis, frameworks)] : []),
    ...(races.includes(NGINX) ? [nginxTable(analysis)] : []),
  ]
}

const MARKS = {
  begin: '<!-- overhead: pnpm bench study overhead --docs -->',
  end: '<!-- end of overhead -->',
} as const

const PAGE = fileURLToPath(new URL('../../../docs/choosing-a-framework.md', import.meta.url))

/**
 * Writes the tables into docs/choosing-a-framework.md, between their two marks.
 * @throws {ResultError} if the page has no place for them, or a system was skipped
 */
export function writeOverhead(
  { analysis, cells, settings, versions, machine, startedAt }: StudyResult,
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
    `Microseconds of CPU per request, 64 connections, ${heats} launches of ${slices} slices of ${sliceMs} ms. Measured by \`pnpm bench study overhead --docs\` on ` +
    `${startedAt.slice(0, 10)} at commit ${versions.startgrid} on ${describeMachine(machine)}.`
  writeBetween(page, MARKS, [...tables, about].join('\n\n'))
}
