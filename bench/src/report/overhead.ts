import {
  formatMicros,
  formatPercent,
  formatRatioInterval,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { layOut, markdownTable, type Table } from '@startgrid/cli/table.ts'
import type { OverheadFigures } from '../judge/overhead.ts'
import { writeBetween } from './output.ts'

/** The tables of `pnpm bench overhead`: microseconds of CPU per request, and what a way without the duties costs as a part of that. */

const right = (heading: string) => ({ heading, align: 'right' as const, priority: 0 })

function frameworkTable(groups: readonly OverheadFigures[]): Table {
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
    rows: groups.map((group) => ({
      tone: 'plain',
      cells: [
        group.name,
        cost(group, 'bare'),
        cost(group, 'headers'),
        cost(group, 'app'),
        ratio(group, 'bare', 'app'),
        ratio(group, 'headers', 'app'),
        cost(group, 'logged'),
        ratio(group, 'headers', 'logged'),
      ],
    })),
  }
}

function nginxTable(group: OverheadFigures): Table {
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
        cost(group, bare),
        orUnknown(group.costs[bare]?.proxy, formatMicros),
        cost(group, ours),
        orUnknown(group.costs[ours]?.proxy, formatMicros),
        ratio(group, bare, ours),
        orUnknown(group.ratio('direct', ours)?.value, formatPercent),
      ],
    })),
  }
}

function cost(group: OverheadFigures, way: string): string {
  return orUnknown(group.costs[way]?.value, formatMicros)
}

function ratio(group: OverheadFigures, over: string, under: string): string {
  const found = group.ratio(over, under)
  return found === undefined ? UNKNOWN : formatRatioInterval(found)
}

function tablesOf(groups: readonly OverheadFigures[], proxy: string): Table[] {
  const frameworks = groups.filter(({ name }) => name !== proxy)
  const nginx = groups.find(({ name }) => name === proxy)
  return [
    ...(frameworks.length > 0 ? [frameworkTable(frameworks)] : []),
    ...(nginx === undefined ? [] : [nginxTable(nginx)]),
  ]
}

/** @param proxy the name of the group that has NGINX in it; @param width columns of the terminal */
export function formatOverhead(groups: readonly OverheadFigures[], proxy: string, width: number): string {
  return layOut(tablesOf(groups, proxy), width)
    .map(({ head, rows }) => [head, ...rows.map(({ text }) => text), ''].join('\n'))
    .join('\n')
}

const MARKS = {
  begin: '<!-- overhead: pnpm bench overhead --docs -->',
  end: '<!-- end of overhead -->',
} as const

/**
 * Writes the tables into a page, between its two marks.
 * @param about a sentence: when, at which commit, on which machine
 * @throws {ResultError} if the page has no place for them
 */
export function writeOverhead(
  page: string,
  groups: readonly OverheadFigures[],
  proxy: string,
  about: string,
): void {
  const tables = tablesOf(groups, proxy).map((table) => markdownTable(table, 0))
  writeBetween(page, MARKS, [...tables, about].join('\n\n'))
}
