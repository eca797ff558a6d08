import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyGeneratorBound } from '../src/engine/generator-bound.ts'
import type { Arrivals, Measurement } from '../src/engine/measurement.ts'
import { Recorder, type Recording } from '../src/engine/recorder.ts'
import { noErrors } from '../src/report/result.ts'

interface Case extends Partial<Omit<Arrivals, 'lag'>> {
  lagMs?: number
  latencyMs?: number
  busy?: number
  waitSeconds?: number | null
}

function constant(milliseconds: number): Recording {
  const recorder = new Recorder()
  recorder.record(milliseconds, 1_000)
  return recorder.recording()
}

/** A sound load of 10,000 requests, but for what is given. */
function measurement({
  lagMs = 0.01,
  latencyMs = 1,
  busy = 0.3,
  waitSeconds = 0,
  ...arrivals
}: Case): Measurement {
  return {
    requests: 10_000,
    seconds: 1,
    errors: noErrors(),
    bytes: 0,
    checked: 0,
    statuses: {},
    handshakes: {},
    latency: constant(latencyMs),
    service: constant(latencyMs),
    arrivals: { seconds: 1, due: 10_000, sent: 10_000, late: 0, lag: constant(lagMs), ...arrivals },
    cpuSeconds: 1,
    loop: { busy, waitSeconds },
  }
}

function why(given: Case): string | null {
  return whyGeneratorBound(measurement(given))
}

test('an offered load is not bound', () => {
  assert.equal(why({}), null)
  assert.equal(why({ sent: 9_900, late: 100, busy: 1 }), null, 'one in a hundred is forgiven')
})

test('a closed loop is never bound: it offers what it can', () => {
  assert.equal(whyGeneratorBound({ ...measurement({ busy: 1 }), arrivals: null }), null)
})

test('requests that wait for a connection are the server’s doing', () => {
  assert.equal(why({ sent: 5_000, busy: 0.9, latencyMs: 800 }), null)
})

test('requests that were not come to in time are the generator’s', () => {
  assert.match(why({ sent: 9_899, late: 101 }) ?? '', /^it came to 1\.0 % of the requests only after/)
})

test('so are requests unsent because the thread had no time to read responses', () => {
  assert.match(why({ sent: 9_899, busy: 0.98 }) ?? '', /^it sent only 99\.0 % .* busy for 98\.0 %/)
})

test('lag matters above 1 ms and a tenth of the latency', () => {
  assert.equal(why({ lagMs: 0.9, latencyMs: 1 }), null)
  assert.equal(why({ lagMs: 2, latencyMs: 50 }), null)
  assert.match(
    why({ lagMs: 2, latencyMs: 10 }) ?? '',
    /^it was late by 2\.00 ms at p99, where the latency is 10\.0 ms$/,
  )
})

test('a thread that had no core says so', () => {
  assert.match(why({ lagMs: 20, latencyMs: 30, waitSeconds: 0.25 }) ?? '', /; it waited 0\.25 s for a core/)
  assert.doesNotMatch(why({ lagMs: 20, latencyMs: 30, waitSeconds: 0.001 }) ?? '', /core/)
  assert.doesNotMatch(why({ lagMs: 20, latencyMs: 30, waitSeconds: null }) ?? '', /core/)
  assert.equal(why({ waitSeconds: 0.25 }), null)
})
