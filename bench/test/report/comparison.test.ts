import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type Comparison, compareResults } from '../../src/judge/compare/comparison.ts'
import { documentOfComparison } from '../../src/report/comparison.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import { runOf, twoRuns } from '../fixtures/two-runs.ts'

function compared(): Comparison {
  const [a, b] = twoRuns({
    factorOf: ({ title }) => (title === 'koa' ? 0.8 : title === 'bun' ? 1.3 : 1),
  })
  const versions = { ...b.versions, node: '27.0.0' }
  return compareResults(a, { ...b, versions, driver: { ...b.driver, ceiling: 140_000 } })
}

const plain = (comparison: Comparison, columns = 80, regressions: string[] | null = null) =>
  formatTerminal(documentOfComparison(comparison, regressions), { columns, color: false })

test('a comparison says what was compared, what came out, and what could have', () => {
  const text = plain(compared())
  assert.match(
    text,
    /^Comparison of native processes, by CPU per request\n\nThe runs\nA: 2026-11-20 10:00 UTC, startgrid abc1234: pnpm bench --seed 7\nB: /,
  )
  assert.match(text, /^Versions, A then B: Node 26\.10\.0, then 27\.0\.0\.$/m)
  assert.equal(
    text.trim().split('\n\n').at(-1)?.replace('\n', ' '),
    'Slower: koa/hello direct and koa/hello nginx; faster: bun/hello direct and bun/hello nginx; no difference shown in 10 of 14 cells.',
  )
  assert.match(text, /^- Differences smaller than [5-9]\.\d % would probably/m)
  assert.match(text, /^- The ceiling, which no app has a part in, is 8\.1 % lower in B\.$/m)
})

test('each cell has its row with both ratios, their intervals and the verdict', () => {
  const text = plain(compared())
  assert.match(text, /^framework +B\/A +95 % +normalised +95 % +verdict$/m)
  assert.match(text, /^koa +1\.\d\d +1\.\d\d–1\.\d\d +1\.\d\d +1\.\d\d–1\.\d\d +slower$/m)
  assert.match(text, /^node +[01]\.\d\d .* no difference shown$/m)
  assert.equal(text.match(/(slower|faster|no difference shown)$/gm)?.length, 14)
})

test('a wide terminal has the values of both runs and p', () => {
  assert.doesNotMatch(plain(compared()), /CPU µs A/)
  assert.match(plain(compared(), 140), /^framework +CPU µs A +CPU µs B .* p +launches +verdict$/m)
  assert.match(plain(compared(), 140), /^koa +2\d\.\d +3\d\.\d .*<0\.001 +4, 4 +slower$/m)
})

test('no line is longer than the terminal', () => {
  const comparison = {
    ...compared(),
    unlike: ['The CPU differs: a rather long name in A, another long name in B, as it is.'],
  }
  for (const columns of [60, 80, 120, 200])
    for (const line of plain(comparison, columns, ['koa/hello direct is slower. '.repeat(5)]).split('\n'))
      assert.ok(line.length <= columns, `${line.length}: ${line}`)
})

test('the shift of each race is told, and that two runs cannot say whose it is', () => {
  const [a, b] = twoRuns({ factorOf: () => 0.8 })
  const text = plain(compareResults(a, b)).replace(/\s+/g, ' ')
  assert.match(
    text,
    /All 7 cells together \(median\): req\/s is (19|2\d) % lower in B, CPU per request is (2\d|30) % higher in B: the machine, or what the apps share\./,
  )
  assert.match(text, /measure A and B in turns/)
})

test('where there is no shift, ratios stand as measured', () => {
  const cells = runOf({ seed: 1 }).cells.filter(
    ({ title, topology }) => title === 'koa' && topology === 'direct',
  )
  const text = plain(compareResults(runOf({ seed: 1, cells }), runOf({ seed: 2, cells })))
  assert.match(text, /^1 cell: too few to tell what they have in common, so ratios stand as measured\.$/m)
  assert.doesNotMatch(text, /^framework.*normalised/m)
})

test('unlikeness that was accepted and regressions stand out', () => {
  const comparison = { ...compared(), unlike: ['The CPU differs: x in A, y in B.'] }
  assert.match(plain(comparison), /^! The CPU differs: x in A, y in B\.$/m)
  assert.match(plain(comparison, 80, ['koa is slower.']), /^! Regression: koa is slower\.$/m)
  const markdown = formatMarkdown(documentOfComparison(comparison, ['koa is slower.']))
  assert.match(markdown, /^> - The CPU differs/m)
  assert.match(markdown, /^> - Regression: koa is slower\.$/m)
})

test('few cells that were left are named, many are counted', () => {
  const cell = (index: number) => ({
    cell: `app${index}/hello direct`,
    reason: 'void (errors) in B',
    broken: true,
  })
  const few = { ...compared(), left: [cell(1), cell(2)] }
  assert.match(plain(few), /^Void \(errors\) in B: app1\/hello direct and app2\/hello direct\.$/m)
  const many = { ...compared(), left: [1, 2, 3, 4, 5, 6, 7].map(cell) }
  assert.match(plain(many), /^Void \(errors\) in B: 7 cells\.$/m)
})

test('colour repeats what the text says', () => {
  const colored = formatTerminal(documentOfComparison(compared(), ['x']), { columns: 80, color: true })
  assert.notEqual(colored, plain(compared(), 80, ['x']))
  assert.equal(stripVTControlCharacters(colored), plain(compared(), 80, ['x']))
})

test('Markdown has a whole table per race', () => {
  const tables = formatMarkdown(documentOfComparison(compared(), null))
    .split('\n\n')
    .filter((block) => block.startsWith('| '))
  assert.equal(tables.length, 2)
  for (const table of tables) {
    assert.equal(table.split('\n').length, 2 + 7)
    assert.equal(new Set(table.split('\n').map((line) => line.split('|').length)).size, 1)
  }
})
