import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../junit.ts'
import { formatConformance, formatOutcomes } from '../test-report.ts'

const DOCKER = 'No NGINX was found: no Docker engine responds. This would help: docker'
const outcome = (name: string, state: Outcome['state'] = 'passed', reason = ''): Outcome => ({
  name,
  suite: '',
  state,
  reason,
})

test('each cause to skip is one line, and the counts are the last one', () => {
  const text = formatOutcomes([
    outcome('one', 'skipped', DOCKER),
    outcome('two'),
    outcome('three', 'skipped', 'No Docker engine responds: start Docker.'),
    { ...outcome('four', 'failed', 'it broke'), suite: 'grid' },
    outcome('five', 'skipped', 'needs /proc'),
    outcome('six', 'flaky', 'it was late'),
  ])
  assert.equal(
    text,
    `2 tests skipped: Docker is not running. Start it, then run pnpm test again.
1 test skipped: needs /proc
flaky, passed when run again alone: six (it was late)
failed: grid: four (it broke)
2 passed, 1 failed, 3 skipped`,
  )
})

test('each count is there, also if it is 0', () => {
  assert.equal(formatOutcomes([]), '0 passed, 0 failed, 0 skipped')
})

test('a package that fails without a failed test is named', () => {
  assert.equal(formatOutcomes([outcome('one')], ['bench']), 'failed: bench\n1 passed, 1 failed, 0 skipped')
})

test('the matrix of the grid: what was tried, and where the sample has nothing', () => {
  const text = formatConformance([
    outcome('koa/ssr direct'),
    outcome('koa/ssr nginx', 'failed'),
    outcome('njs/hello (qjs) direct', 'skipped'),
  ])
  assert.match(text, /^conformance +direct +nginx +nginx-naive +nginx-socket +nginx-tls$/m)
  assert.match(text, /^koa\/ssr +passed +failed +· +· +·$/m)
  assert.match(text, /^njs\/hello \(qjs\) +skipped( +·){4}$/m)
  assert.match(text, /^· is not in the sample of this run: pnpm test --full tries all\.$/m)
})
