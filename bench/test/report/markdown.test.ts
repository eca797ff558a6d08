import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Result } from '../../src/model/result.ts'
import { documentOf } from '../../src/report/grid.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { emptyResults } from '../fixtures/empty-results.ts'
import { fullResult } from '../fixtures/full-result.ts'
import {
  capacityResult,
  interruptedResult,
  latencyResult,
  overloadResult,
  rateResult,
} from '../fixtures/results.ts'
import { smallRace, withFigures } from '../fixtures/small-race.ts'

/** GitHub refuses longer comments. */
const LONGEST_COMMENT = 65_536

const textOf = (result: Result) => formatMarkdown(documentOf(result))

const EVERY = [rateResult, interruptedResult, capacityResult, latencyResult, overloadResult]

test('a race, for a pull request', () => {
  const text = textOf(smallRace())
  assert.match(
    text,
    /^# Bun leads hello\n\nRace of native processes, 2026-11-20 10:00 UTC, .*\.\n\n- hello nginx: bun is first/,
  )
  assert.match(
    text,
    /^\| framework \| × node \| +95 % \| rank \| +req\/s \| +95 % \| CPU µs \| peak MB \|\n\| -+ \| -+: \|/m,
  )
  assert.match(text, /^\| bun +\| +1\.25 \| 1\.20–1\.30 \| +1 \| 30,000 \| 28\.8–31\.2k \|/m)
  assert.match(text, /^\| koa +\| +void \| +\|/m)
  assert.match(text, /^- Void by the gate errors: koa \(3 of 1,200 requests failed\)\. Look at the log/m)
  assert.match(text, /```sh\npnpm bench --seed 7\n```/)
})

test('gates are folded; what did not pass is told', () => {
  const text = textOf(smallRace())
  const gates = text.split('<summary>Gates</summary>')[1]?.split('</details>')[0] ?? ''
  assert.match(
    gates,
    /\| errors \| failed +\| koa\/hello nginx \| 3 of 1,200 requests failed\. Look at the log of the app\. \|/,
  )
  assert.match(gates, /- No gate failed in 4 of 5 cells\./)
  assert.doesNotMatch(gates, /bun/)
  assert.equal(text.match(/<details>/g)?.length, text.match(/<\/details>/g)?.length)
})

test('every table is whole: as many cells in each line', () => {
  for (const make of EVERY) {
    const tables = textOf(make())
      .split(/\n\n/)
      .filter((block) => block.startsWith('| '))
    assert.ok(tables.length > 0)
    for (const table of tables) {
      const widths = new Set(table.split('\n').map((line) => line.split('|').length))
      assert.equal(widths.size, 1, table)
    }
  }
})

test('all kinds fit a comment, and nothing unknown shows as null or NaN', () => {
  for (const result of [...EVERY.map((make) => make()), fullResult(), ...emptyResults()]) {
    const text = textOf(result)
    assert.ok(text.length < LONGEST_COMMENT, `${text.length}`)
    assert.doesNotMatch(text, /null|undefined|NaN|Infinity/)
  }
})

test('what programs said is not markup', () => {
  const finding = 'GET /<script>|*x* [link](http://example.org)'
  const hostile = withFigures(smallRace(), ({ gates }) => ({
    gates: gates.map((gate) => ({ ...gate, finding })),
  }))
  const text = textOf(hostile)
  assert.doesNotMatch(text, /(?<!\\)<script/)
  assert.match(text, /\\<script\\>\|\\\*x\\\* \\\[link\\\]\(/)
})

test('an interruption is the first warning', () => {
  assert.match(textOf(interruptedResult()), /^# .*\n\n.*\n\n> \[!WARNING\]\n> - Interrupted:/)
})
