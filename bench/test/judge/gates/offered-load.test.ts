import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeOfferedLoad, type OfferedLoad } from '../../../src/judge/gates.ts'

const lag = { p50: 0.01, p90: 0.05, p99: 0.4, p999: 2, max: 9 }
const judge = (more: Partial<OfferedLoad>) =>
  judgeOfferedLoad({ offered: 20_000, achieved: 20_000, lag, generatorBound: false, ...more })

test('what was offered gets a response within 1 %, and sent on time', () => {
  for (const achieved of [19_800, 20_000, 20_200]) assert.equal(judge({ achieved }).verdict, 'passed')
  for (const achieved of [19_799, 20_201]) {
    const { verdict, advice } = judge({ achieved })
    assert.deepEqual([verdict, typeof advice], ['failed', 'string'])
  }
  assert.match(judge({ achieved: 15_000 }).finding, /^15,000 of 20,000 requests per second/)
})

test('one request in a hundred may be a millisecond late', () => {
  assert.equal(judge({ lag: { ...lag, p99: 1 } }).verdict, 'passed')
  const { verdict, finding } = judge({ lag: { ...lag, p99: 1.2 } })
  assert.equal(verdict, 'failed')
  assert.match(finding, /at most 1\.20 ms late$/)
})

test('a generator that could not offer the load says so first', () => {
  const { verdict, finding } = judge({ generatorBound: true, achieved: 12_000 })
  assert.equal(verdict, 'failed')
  assert.match(finding, /generator could not/)
})

test('a closed loop has no rate to keep; an unknown lag proves nothing', () => {
  assert.equal(judge({ offered: null, lag: null }).verdict, 'not meant')
  assert.equal(judge({ lag: null }).verdict, 'unknown')
})
