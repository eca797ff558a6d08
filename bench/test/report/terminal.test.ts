import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { analyse } from '../../src/judge/analysis.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal, terminalStyle } from '../../src/report/terminal.ts'
import type { Result } from '../../src/result/result.ts'
import { golden, rankedOf } from '../fixtures/golden.ts'
import { interruptedResult, rateResult } from '../fixtures/results.ts'
import { smallRace, withFigures } from '../fixtures/small-race.ts'

function tablesOf(result: Result, columns = 80, color = false): string {
  return formatTerminal(documentOf(result), { columns, color })
}

test('the finding is the first line, then its chart, tables with a row for every cell that was tried, and warnings at the end', () => {
  const result = rateResult()
  const text = tablesOf(result)
  assert.match(
    text,
    /^Bun leads hello, ssr and status\.\n\nreq\/s over node\nhello direct {20,}hello nginx\n/,
  )
  const order = ['bun   ', '- Behind nginx', 'hello direct: ', 'Repeat it: ', '! ']
  const places = order.map((words) => text.indexOf(`\n${words}`))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  assert.ok(text.split('\n').length <= 110, 'two screens')
  const tried = result.cells.filter(({ skipped, twinOf }) => skipped === null && twinOf === null)
  const rows = text
    .split('\n')
    .filter((line) => /^(node|fastify|express|koa|hono|bun|njs \(\w+\)) +(\d\S* .*|void)$/.test(line))
  assert.equal(rows.length, tried.length)
  assert.match(text.replace(/\s+/g, ' '), /Not tried: njs\/ssr nginx \(NGINX in front of njs/)
})

test('where the system tells nothing of CPU and memory (macOS), their columns are left out', () => {
  const result = golden('race')
  const heats = result.heats.map((heat) => ({
    ...heat,
    launches: heat.launches.map(({ app }) => ({ app, peakMemory: null })),
    slices: heat.slices.map((slice) => ({
      ...slice,
      cpuSeconds: { app: null, proxy: null, generator: null },
    })),
  }))
  const text = tablesOf({ ...result, heats, analysis: analyse(rankedOf(result), { ...result, heats }) }, 200)
  assert.doesNotMatch(text, /CPU µs|CPU ×|MB peak|generator µs|core {2}|—/)
})

test('a wide terminal shows both metrics with ranks, parts of the cost, and how many slices count', () => {
  const headings = (columns: number) => /^.*system {2}.*$/m.exec(tablesOf(smallRace(), columns))?.[0] ?? ''
  for (const heading of ['CPU rank', 'generator µs', 'core', 'launches', 'slices', 'disturbed'])
    assert.deepEqual(
      [80, 200].map((columns) => headings(columns).includes(heading)),
      [false, true],
      heading,
    )
  assert.equal(headings(200).match(/95 %/g)?.length, 4)
})

test('an interrupted run says so first, and leaves out what it has not begun', () => {
  const result = interruptedResult()
  const [first] = documentOf(result).warnings
  assert.equal(first, 'Interrupted: not everything that was planned was measured.')
  const roles = new Set(result.heats.map(({ race }) => race))
  for (const role of ['hello', 'ssr', 'status'] as const)
    assert.equal(new RegExp(`^${role} direct: `, 'm').test(tablesOf(result)), roles.has(role), role)
})

test('what is best is bold, and what is void is red', () => {
  const lines = tablesOf(smallRace(), 80, true).split('\n')
  const lineOf = (word: string) => lines.find((line) => line.includes(word)) ?? ''
  assert.ok(lineOf('koa ').startsWith('\u001b[31m'))
  assert.ok(lineOf('30,000').startsWith('\u001b[1m'))
})

describe('terminalStyle', () => {
  const stream = (more: Partial<NodeJS.WriteStream>) =>
    ({ isTTY: true, columns: 132, hasColors: () => true, ...more }) as NodeJS.WriteStream

  test('a terminal has its own width, within reason; a file has 80 columns', () => {
    const widthOf = (more: Partial<NodeJS.WriteStream>) => terminalStyle(stream(more), {}).columns
    assert.deepEqual(
      [132, 20, 400].map((columns) => widthOf({ columns })),
      [132, 60, 200],
    )
    assert.equal(widthOf({ isTTY: false }), 80)
  })

  test('NO_COLOR and FORCE_COLOR decide, else the terminal', () => {
    const colorOf = (environment: NodeJS.ProcessEnv, more: Partial<NodeJS.WriteStream> = {}) =>
      terminalStyle(stream(more), environment).color
    assert.equal(colorOf({}), true)
    assert.equal(colorOf({}, { isTTY: false }), false)
    assert.equal(colorOf({}, { hasColors: () => false }), false)
    assert.equal(colorOf({ NO_COLOR: '1' }), false)
    assert.equal(colorOf({ NO_COLOR: '' }), true)
    assert.equal(colorOf({ NO_COLOR: '1', FORCE_COLOR: '1' }), false)
    assert.equal(colorOf({ FORCE_COLOR: '1' }, { isTTY: false }), true)
    assert.equal(colorOf({ FORCE_COLOR: '0' }), false)
  })
})

test('a void cell has no number, and its reason below the table', () => {
  const text = formatMarkdown(documentOf(smallRace()))
  assert.match(text, /^\| ~~koa~~ +\| +\| +\| +\| +void \| +\|/m)
  assert.match(text, /^- Void: koa \(3 of 1,200 requests failed\)\.$/m)
})

test('what programs said is not markup', () => {
  const finding = 'GET /<script>|*x* [link](http://example.org)'
  const hostile = withFigures(smallRace(), () => ({ void: finding }))
  const text = formatMarkdown(documentOf(hostile))
  assert.doesNotMatch(text, /(?<!\\)<script/)
  assert.match(text, /\\<script\\>\|\\\*x\\\* \\\[link\\\]\(/)
})
