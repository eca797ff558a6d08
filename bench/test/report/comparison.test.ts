import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Comparison, compareResults } from '../../src/judge/compare/comparison.ts'
import { documentOfComparison } from '../../src/report/comparison.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import { twoRuns } from '../fixtures/two-runs.ts'

function compared(): Comparison {
  const [a, b] = twoRuns({
    factorOf: ({ title }) => (title === 'koa' ? 0.8 : title === 'bun' ? 1.3 : 1),
  })
  const versions = { ...b.versions, node: '27.0.0' }
  return compareResults(a, { ...b, versions, driver: { ...b.driver, ceiling: 106_750 } })
}

const plain = (comparison: Comparison, columns = 80, regressions: string[] | null = null) =>
  formatTerminal(documentOfComparison(comparison, regressions), { columns, color: false })

test('a comparison says what came out, and what could have', () => {
  const text = plain(compared())
  assert.match(text, /^Versions, A then B: Node 26\.10\.0, then 27\.0\.0\.$/m)
  assert.equal(
    text.trim().split('\n\n').at(-1)?.replace('\n', ' '),
    'Slower: koa/hello direct and koa/hello nginx; faster: bun/hello direct and bun/hello nginx; no difference shown in 10 of 14 cells.',
  )
  assert.match(text, /^- Differences smaller than [5-9]\.\d % would probably/m)
  assert.match(text, /^- The ceiling, which no app has a part in, is 8\.1 % lower in B\.$/m)
  assert.match(text, /^koa +1\.\d\d +1\.\d\d–1\.\d\d +1\.\d\d +1\.\d\d–1\.\d\d +slower$/m)
})

test('a wide terminal has the values of both runs and p', () => {
  assert.doesNotMatch(plain(compared()), /CPU µs A/)
  assert.match(plain(compared(), 140), /^koa +2\d\.\d +3\d\.\d .*<0\.001 +4, 4 +slower$/m)
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
