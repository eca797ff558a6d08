import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FRAMEWORKS, ROLES, TOPOLOGIES } from '@startgrid/grid/matrix.ts'
import { formatMarkdown, formatTables } from '../src/report.ts'
import type { CellResult, Result } from '../src/results.ts'
import { emptiestResult, fullCell, fullResult, GOLDEN } from './fixture.ts'

const sound = { voided: false, voidedBecause: null } as const
const node = { app: 'node/hello', framework: 'node', engine: null, ...sound } as const

/** Every kind of row. */
const result: Result = {
  ...fullResult(),
  cells: [
    fullCell({ ...node, rate: 20_469, rateInterval: [20_100, 20_900] }),
    fullCell({
      ...node,
      topology: 'direct',
      rate: 60_321.4,
      rateInterval: [56_000, 110_400],
      cpuPerRequest: { app: 16.52e-6, proxy: 0, generator: 5e-6 },
      peakMemory: { app: 107.4e6, proxy: 0 },
    }),
    fullCell({ ...sound, rate: 18_443, cpuPerRequest: { app: 17_582e-6, proxy: 150e-6, generator: 0 } }),
    fullCell({ ...sound, engine: 'njs in NGINX 1.22.1', rate: 56.24, rateInterval: [53.1, 59.6] }),
    fullCell({
      app: 'koa/hello',
      framework: 'koa',
      engine: null,
      ...sound,
      rate: 9000,
      rateInterval: [100, 200_000],
      ratioToNode: { value: 0.0123, low: 0.001, high: 0.9 },
      cpuPerRequest: { app: null, proxy: null, generator: 0 },
      peakMemory: { app: null, proxy: null },
    }),
    fullCell({ app: 'bun/hello', framework: 'bun', engine: null, rate: null, voidedBecause: 'it fell over' }),
    fullCell({ app: 'hono/hello', framework: 'hono', engine: null, rate: null, skipped: true }),
    fullCell({
      app: 'node/ssr',
      framework: 'node',
      role: 'ssr',
      engine: null,
      workload: 'GET /',
      ...sound,
      rateInterval: null,
      ratioToNode: null,
    }),
  ],
}

test('the report is the one in golden/report.txt', () => {
  assert.equal(formatMarkdown(result), readFileSync(`${GOLDEN}report.txt`, 'utf8'))
})

test('the tables are those in golden/tables.txt', () => {
  assert.equal(formatTables(result), readFileSync(`${GOLDEN}tables.txt`, 'utf8'))
})

test('all cells of the grid fit 80 columns, with the longest figures', () => {
  for (const line of linesOf({ ...fullResult(), cells: widestCells() }))
    assert.ok(line.length <= 80, `${line.length}: ${line}`)
})

test('every cell of the grid has its row in both', () => {
  const cells = widestCells()
  const grid = { ...fullResult(), cells }
  const rows = (text: string) => text.split('\n').filter((line) => /\d–\d/.test(line)).length
  assert.equal(rows(formatTables(grid)), cells.length)
  assert.equal(rows(formatMarkdown(grid)), cells.length)
})

test('what is unknown is shown as such, and an interruption is said first', () => {
  const markdown = formatMarkdown(emptiestResult())
  assert.match(markdown, /^# .*\n\n\*\*Interrupted/)
  assert.match(markdown, /nothing was pinned/)
  assert.match(markdown, /ceiling was not\s+measured/)
  assert.doesNotMatch(`${markdown}${formatTables(emptiestResult())}`, /null|undefined|NaN/)
})

/** The command is copied, so it is one line. */
function linesOf(grid: Result): string[] {
  return [
    ...formatTables(grid).split('\n'),
    ...formatMarkdown(grid)
      .replace(/```sh[^`]*```/, '')
      .split('\n'),
  ]
}

function widestCells(): CellResult[] {
  return ROLES.flatMap((role) =>
    FRAMEWORKS.flatMap((framework) =>
      TOPOLOGIES.map((topology) =>
        fullCell({
          ...sound,
          app: `${framework}/${role}`,
          framework,
          role,
          topology,
          engine: framework === 'njs' ? 'qjs in NGINX 1.30.3' : null,
          rate: 123_456,
          rateInterval: [101_234, 145_678],
          ratioToNode: { value: 0.0567, low: 0.0512, high: 0.0987 },
          cpuPerRequest: { app: 17_582e-6, proxy: 151e-6, generator: 5e-6 },
          peakMemory: { app: 1234e6, proxy: 19e6 },
        }),
      ),
    ),
  )
}

test('the reason of a void cell is wrapped', () => {
  const reason = `it said ${'something long '.repeat(20)}`
  for (const line of linesOf({ ...fullResult(), cells: [fullCell({ rate: null, voidedBecause: reason })] }))
    assert.ok(line.length <= 80, line)
})
