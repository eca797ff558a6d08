import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isTimely, whyNotKept, whyWrong } from '../../src/judge/trial.ts'
import { trialOf } from '../fixtures/trials.ts'

describe('an open-loop trial', () => {
  test('is sound as it stands', () => {
    assert.equal(whyWrong(trialOf()), null)
    assert.equal(whyNotKept(trialOf()), null)
    assert.ok(isTimely(trialOf()))
  })

  test('is void with one error of any kind, which it names', () => {
    for (const kind of ['connect', 'reset', 'timeout', 'parse'])
      assert.equal(whyWrong(trialOf({ errors: { [kind]: 1 } })), `1 of 10001 requests failed (1 ${kind})`)
    // A wrong response is a response.
    for (const kind of ['status', 'body'])
      assert.equal(whyWrong(trialOf({ errors: { [kind]: 1 } })), `1 of 10000 requests failed (1 ${kind})`)
    assert.match(
      whyWrong(trialOf({ errors: { reset: 2, timeout: 1 } })) ?? '',
      /^3 of .* \(2 reset, 1 timeout\)$/,
    )
  })

  test('is not void by what took too long while others used the machine, but by what was wrong', () => {
    assert.equal(whyWrong(trialOf({ errors: { timeout: 9, connect: 1 }, disturbed: true })), null)
    assert.match(whyWrong(trialOf({ errors: { timeout: 9, body: 1 }, disturbed: true })) ?? '', /\(1 body\)$/)
  })

  test('is void without responses, and without compared ones', () => {
    assert.equal(whyWrong(trialOf({ requests: 0, checked: 0 })), 'no request got a response')
    assert.equal(whyWrong(trialOf({ checked: 0 })), 'no response was compared')
  })

  test('is not timely where the generator could not offer the rate, or was late, which is not the server’s fault', () => {
    const lag = { p50: 0, p90: 0, p99: 1.2, p999: 2, max: 3 }
    assert.ok(!isTimely(trialOf({ generatorBound: true })) && !isTimely(trialOf({ lag })))
    assert.equal(whyNotKept(trialOf({ generatorBound: true, lag })), null)
  })

  test('is void where responses fell more than 1 % behind', () => {
    assert.equal(whyNotKept(trialOf({ achieved: 990 })), null)
    assert.equal(whyNotKept(trialOf({ achieved: 989 })), '989 of 1,000 requests per second got a response')
  })

  test('does not ask whether others used the machine: that is decided apart', () => {
    assert.equal(whyWrong(trialOf({ disturbed: true })), null)
  })
})
