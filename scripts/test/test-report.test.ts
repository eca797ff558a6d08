import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../junit.ts'
import { formatConformance, formatOutcomes } from '../test-report.ts'

const DOCKER = 'Docker is not running: start it'
const outcome = (name: string, state: Outcome['state'] = 'passed', reason = ''): Outcome => ({
  name,
  suite: '',
  state,
  reason,
})

test('each reason to skip is one line, and the counts are the last one', () => {
  const text = formatOutcomes([
    outcome('one', 'skipped', DOCKER),
    outcome('two'),
    outcome('three', 'skipped', DOCKER),
    { ...outcome('four', 'failed', 'it broke'), suite: 'grid' },
    outcome('five', 'skipped', 'no wrk: apt-get install wrk'),
  ])
  assert.equal(
    text,
    `2 tests skipped: ${DOCKER}
1 test skipped: no wrk: apt-get install wrk
failed: grid: four (it broke)
1 passed, 1 failed, 3 skipped`,
  )
})

test('a package that fails without a failed test is named', () => {
  assert.equal(formatOutcomes([outcome('one')], ['bench']), 'failed: bench\n1 passed, 0 failed, 0 skipped')
})

test('the matrix of the grid: what was tried, and where the sample has nothing', () => {
  const text = formatConformance([
    outcome('koa/ssr direct'),
    outcome('koa/ssr nginx', 'failed'),
    outcome('njs/hello (qjs) direct', 'skipped'),
  ])
  assert.match(text, /^conformance +direct +nginx +nginx-naive +nginx-socket$/m)
  assert.match(text, /^koa\/ssr +passed +failed +· +·$/m)
  assert.match(text, /^njs\/hello \(qjs\) +skipped +· +· +·$/m)
})
