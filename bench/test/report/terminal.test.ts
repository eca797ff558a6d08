import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { analyse } from '../../src/judge/analysis.ts'
import type { Result } from '../../src/model/result.ts'
import { documentOf } from '../../src/report/grid.ts'
import { formatTerminal, terminalStyle } from '../../src/report/terminal.ts'
import { emptyResults } from '../fixtures/empty-results.ts'
import { fullResult } from '../fixtures/full-result.ts'
import {
  capacityResult,
  contendedResult,
  interruptedResult,
  latencyResult,
  overloadResult,
  rateResult,
  silentResult,
  suspectResult,
  targetResult,
} from '../fixtures/results.ts'
import { smallRace, withFigures, within } from '../fixtures/small-race.ts'

const EVERY = {
  rateResult,
  suspectResult,
  contendedResult,
  interruptedResult,
  targetResult,
  silentResult,
  capacityResult,
  latencyResult,
  overloadResult,
}

function tablesOf(result: Result, columns = 80): string {
  return formatTerminal(documentOf(result), { columns, color: false })
}

test('the verdict is the last line, after what it rests on and the warnings', () => {
  const text = tablesOf(rateResult())
  const order = ['hello direct: GET /json', 'Repeat it: ', '! ', '- hello direct: ']
  const places = order.map((words) => text.indexOf(`\n${words}`))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  assert.match(text, /\n\nBun leads hello, ssr and status\.\n$/)
})

test('a server that already ran: the mode first, one row, and no column that only its machine could fill', () => {
  const text = tablesOf(targetResult())
  assert.match(
    text,
    /^Rate of http:\/\/10\.0\.0\.9:3000, which already ran, 2026-11-20 10:00 UTC, .*\n\n! The server already ran/s,
  )
  assert.match(text, /\n\nHello: 56,758 \(55\.8–57\.8k\) req\/s with 64 connections\.\n$/)
  assert.match(text, /^- That is 37 % of what the generator reached/m)
  assert.match(
    text,
    /^server {17}req\/s {8}95 % {2}mean ms {2}of ceiling {2}heats {2}slices\nhttp:\/\/10\.0\.0\.9:3000 {2}56,758 {2}55\.8–57\.8k {5}1\.13 {8}37 % {5}10 {6}30$/m,
  )
  assert.doesNotMatch(text, /rank|CPU µs|peak MB|× node|A\/A|—/)
})

test('a server that breaks the contract: its differences, some of them', () => {
  const result = targetResult()
  const differences = Array.from({ length: 10 }, (_, index) => `check ${index + 1}: expected a, got b`)
  const conformance = [{ cell: 'target/hello direct', checked: 48, differences, remembered: false }]
  const broken = { ...result, conformance }
  const text = tablesOf({ ...broken, analysis: analyse(broken) })
  assert.match(text, /^http:\S+ +void +10/m)
  assert.match(text, /^Void by the gate conformance: it breaks the contract: check 1: .*--without/ms)
  assert.equal(text.match(/^Not as the contract says, check \d: expected a, got b\.$/gm)?.length, 8)
  assert.match(text, /^2 more differences of the contract: see conformance in result\.json\.$/m)
})

test('where the system tells nothing of CPU and memory, their columns are left out', () => {
  const text = tablesOf(silentResult(), 200)
  assert.doesNotMatch(text, /CPU µs|CPU ×|peak MB|generator µs|core {2}|—/)
  assert.match(text, /^role +via +req\/s × +apps$/m)
})

describe('no line is longer than the terminal', () => {
  for (const [name, make] of Object.entries(EVERY))
    test(name, () => {
      const result = make()
      for (const columns of [60, 80, 120, 200])
        for (const line of tablesOf(result, columns).split('\n'))
          assert.ok(line.length <= columns, `${line.length} > ${columns}: ${line}`)
    })
})

test('nothing unknown shows as null, NaN or undefined', () => {
  const results = [...Object.values(EVERY).map((make) => make()), fullResult(), ...emptyResults()]
  for (const result of results)
    for (const columns of [80, 200])
      assert.doesNotMatch(tablesOf(result, columns), /null|undefined|NaN|Infinity/)
})

/** The headings of the first table. */
function headings(result: Result, columns: number): string {
  return tablesOf(result, columns).match(/^.*framework {2}.*$/m)?.[0] ?? ''
}

test('a wide terminal shows both metrics with ranks, parts of the cost, and how many slices count', () => {
  const narrow = headings(rateResult(), 80)
  const wide = headings(rateResult(), 200)
  for (const heading of ['rank', 'req/s', 'CPU µs', 'peak MB']) assert.ok(narrow.includes(heading), heading)
  for (const heading of [
    'CPU rank',
    'app+proxy µs',
    'generator µs',
    'core',
    'launches',
    'slices',
    'disturbed',
  ]) {
    assert.ok(!narrow.includes(heading), heading)
    assert.ok(wide.includes(heading), heading)
  }
  assert.equal(wide.match(/95 %/g)?.length, 4)
})

test('every cell that was tried has its row', () => {
  const result = rateResult()
  const tried = result.cells.filter(({ skipped, twinOf }) => skipped === null && twinOf === null)
  const rows = tablesOf(result)
    .split('\n')
    .filter((line) => /^(node|fastify|express|koa|hono|bun|njs \(\w+\)) +([\d.]+|void)( |$)/.test(line))
  assert.equal(rows.length, tried.length)
  assert.match(tablesOf(result).replace(/\s+/g, ' '), /Not tried: njs\/ssr nginx \(NGINX in front of njs/)
})

test('--keep-voided shows the number, marked', () => {
  const kept = withFigures(smallRace(), ({ voided }) =>
    voided ? { rate: within(19_000), cpu: within(5e-5) } : {},
  )
  assert.match(tablesOf(kept), /^koa +void +19,000 .* 50\.0/m)
})

test('an interrupted run says so, and leaves out what it has not begun', () => {
  const text = tablesOf(interruptedResult())
  assert.match(text, /^! Interrupted: not everything that was planned was measured\.$/m)
  const roles = new Set(interruptedResult().heats.map(({ race }) => race))
  for (const role of ['hello', 'ssr', 'status'] as const)
    assert.equal(new RegExp(`^${role} direct: `, 'm').test(text), roles.has(role), role)
})

test('open-loop tables: what is withheld is a dash with its reason, void cells are named', () => {
  const text = tablesOf(latencyResult())
  assert.match(text, /^node +25 % +[\d,]+ .* —$/m)
  assert.match(text, /^Withheld \(—\), the generator was late: p99\.9 of bun at 75 %\.$/m)
  assert.match(text, /^koa is void: 4 errors: 4 timeout\.$/m)
  assert.match(tablesOf(capacityResult()), /^bun +[\d,]+ +[\d.]+–[\d.]+k +3\/3 +[\d,]+ +\d\d %$/m)
  assert.match(tablesOf(capacityResult()), /^express +void +0\/3/m)
  assert.match(tablesOf(overloadResult()), /^node +[\d,]+ .*96 % +[\d,]+ +\d\.\d/m)
})

test('colour repeats what the text says, and changes nothing else', () => {
  const colored = formatTerminal(documentOf(smallRace()), { columns: 80, color: true })
  assert.notEqual(colored, tablesOf(smallRace()))
  assert.equal(stripVTControlCharacters(colored), tablesOf(smallRace()))
  const lineOf = (word: string) => colored.split('\n').find((line) => line.includes(word)) ?? ''
  assert.ok(lineOf('koa          void').startsWith('\u001b[31m'), 'void is red')
  assert.ok(lineOf('30,000').startsWith('\u001b[1m'), 'the best is bold')
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
