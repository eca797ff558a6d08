import assert, { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { percentiles } from '@startgrid/loadgen/recording.ts'
import { createRandom } from '@startgrid/stats/random.ts'
import { isMeanSpoiled, isSpoiled, valueAt } from '../../src/judge/lateness.ts'
import { whyNotKept, whyWrong } from '../../src/judge/trial.ts'
import { histogramOf, trialOf, uniform } from '../fixtures/evidence.ts'

const none = uniform(1000, 0.001)

/** So many of 1,000 requests were this late. */
function lags(late: number, ms: number): string {
  return histogramOf([...none.slice(late), ...Array.from({ length: late }, () => ms)])
}

describe('a percentile', () => {
  const histogram = histogramOf(uniform(1000, 1))

  test('is spoiled by as many late requests as could have moved it by 10 %', () => {
    for (const [percentile, harmless] of [
      [50, 22],
      [99, 44],
    ] as const) {
      const is = (late: number) => isSpoiled({ histogram, lagHistogram: lags(late, 5) }, percentile)
      ok(!is(harmless), `${percentile}: ${harmless}`)
      ok(is(harmless + 2), `${percentile}: ${harmless + 2}`)
    }
  })

  test('counts a request by how late it was, and not if that is under a tenth of the percentile', () => {
    const is = (late: number, ms: number) => isSpoiled({ histogram, lagHistogram: lags(late, ms) }, 50)
    ok(is(40, 0.5))
    ok(!is(40, 0.25))
    ok(!is(1000, 0.049))
    ok(is(1000, 0.06))
  })

  test('is not judged where nobody knows the lag', () => {
    equal(isSpoiled({ histogram, lagHistogram: null }, 99), false)
    equal(isMeanSpoiled(null, 1), false)
  })
})

test('values at percentiles are those of the load generator', () => {
  const histogram = histogramOf([0.1, 0.1, 0.2, 0.3, 5, 7.5, 9])
  const all = [10, 28, 29, 50, 90, 99, 99.9, 100]
  deepEqual(
    all.map((one) => valueAt(histogram, one)),
    percentiles(histogram, all),
  )
})

test('a mean is spoiled by a mean lag of a twentieth of it: as much again waits behind', () => {
  ok(!isMeanSpoiled(lags(1000, 0.049), 1))
  ok(isMeanSpoiled(lags(1000, 0.052), 1))
  ok(isMeanSpoiled(lags(20, 3), 1))
})

/**
 * A server with a queue at half of its capacity, 10,000 requests per second, and a generator that takes 12 µs for each of them and stalls. What the
 * server would have shown is what the same requests meet without stalls.
 */
function offer(seed: number, stallsPerSecond: number, stallMs: number) {
  const random = createRandom(seed)
  const exponential = (mean: number) => -mean * Math.log(1 - random())
  const requests = Array.from({ length: 3000 }, () => ({ gap: exponential(0.1), work: exponential(0.05) }))
  const stalls: { from: number; until: number }[] = []
  for (let at = exponential(1000 / stallsPerSecond); at < 300; at += exponential(1000 / stallsPerSecond))
    stalls.push({ from: at, until: at + stallMs * (0.5 + random()) })
  const run = (stalled: typeof stalls) => {
    const [latencies, late]: [number[], number[]] = [[], []]
    let [due, ready, free] = [0, 0, 0]
    for (const { gap, work } of requests) {
      due += gap
      const now = Math.max(due, ready)
      const sent = stalled.find(({ from, until }) => from <= now && now < until)?.until ?? now
      ready = sent + 0.012
      free = Math.max(free, sent) + work
      latencies.push(free - due + 0.04)
      late.push(Math.max(0.0001, sent - due))
    }
    return { histogram: histogramOf(latencies), lagHistogram: histogramOf(late) }
  }
  return { given: run([]), measured: run(stalls) }
}

describe('planted stalls of a generator', () => {
  /** Loads whose percentile counts, and by how much it is then above that of the server on average. */
  function judge(percentile: number, stallsPerSecond: number, stallMs: number) {
    const ratios = Array.from({ length: 20 }, (_, index) => offer(index + 1, stallsPerSecond, stallMs)).map(
      ({ given, measured }) => ({
        is: isSpoiled(measured, percentile),
        ratio:
          (percentiles(measured.histogram, [percentile])[0] ?? 0) /
          (percentiles(given.histogram, [percentile])[0] ?? 0),
      }),
    )
    const counted = ratios.filter(({ is }) => !is)
    const mean = (own: typeof ratios) => own.reduce((sum, { ratio }) => sum + ratio / own.length, 0)
    return { part: counted.length / ratios.length, counted: mean(counted), all: mean(ratios) }
  }

  test('leave a p99 that counts within 10 % of the server’s, and where they set it, it is refused', () => {
    const rare = judge(99, 1, 3)
    ok(rare.part > 0.6 && rare.counted < 1.03, JSON.stringify(rare))
    const often = judge(99, 10, 4)
    ok(often.all > 3, 'it would be several times too long')
    ok(often.part < 0.2 && (often.part === 0 || often.counted < 1.1), JSON.stringify(often))
  })

  test('leave a median that counts within 10 %, also where p99 is refused, until the generator is late for much of the time', () => {
    const some = judge(50, 3, 4)
    ok(some.part > 0.6 && some.counted < 1.05, JSON.stringify(some))
    const often = judge(50, 30, 4)
    ok(often.all > 1.15 && often.part < 0.1, JSON.stringify(often))
  })
})

describe('an open-loop trial', () => {
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

  test('is void where responses fell more than 1 % behind', () => {
    assert.equal(whyNotKept(trialOf({ achieved: 990 })), null)
    const late = { p50: 0, p90: 0, p99: 1.2, p999: 2, max: 3 }
    assert.equal(whyNotKept(trialOf({ generatorBound: true, lag: late })), null, 'not the server’s fault')
    assert.equal(whyNotKept(trialOf({ achieved: 989 })), '989 of 1,000 requests per second got a response')
  })
})
