import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPoolFigures } from '../../src/pool/figures.ts'
import { overLaunches } from '../../src/pool/interval.ts'
import type { PoolResult, PoolSettings } from '../../src/pool/settings.ts'

const SETTINGS: PoolSettings = {
  library: 'qoper8-cp',
  runtime: 'node',
  size: 2,
  messages: 500_000,
  pace: { kind: 'in-flight', count: 32 },
  tasksPerWorker: 1,
}

const LAUNCH: PoolResult = {
  rate: 20_061.79,
  seconds: 24.923,
  perWorker: [250_011, 249_989],
  longestQueue: 30,
  mainBusy: 0.5,
  delayMs: null,
  version: '26.10.0',
  cpuPerMessage: 44.4e-6,
  foreign: 0.01,
}

function format(settings: Partial<PoolSettings>, launch: Partial<PoolResult>, cores = 8): string {
  const launches = [20_000, 21_000].map((rate) => ({ ...LAUNCH, rate, ...launch }))
  const rate = overLaunches(launches.map((one) => one.rate))
  return formatPoolFigures({ settings: { ...SETTINGS, ...settings }, launches, rate }, cores)
}

test('says what was measured, every launch, and the interval', () => {
  const text = format({}, {})
  assert.match(text, /^qoper8-cp on Node 26\.10\.0 with 2 workers: 500,000 messages, 32 in flight\.$/m)
  assert.match(text, /^ +2 +21,000 +24\.92 +44\.4 +50 % +1\.0 % +30 +250,011 249,989$/m)
  assert.match(text, /^20,494 messages per second \(95 %: 15\.0–27\.9k\)\.$/m)
  assert.doesNotMatch(text, /share|busy all|Others/)
})

test('says why it is not faster, only where that was seen', () => {
  assert.match(format({}, { mainBusy: 0.97 }), /busy all the time/)
  assert.match(format({ size: 8 }, {}, 8), /8 workers and the main thread share 8 cores/)
  assert.doesNotMatch(format({ size: 7 }, {}, 8), /share/)
  assert.match(format({}, { foreign: 0.5 }), /Others used up to 50 % of the cores/)
})

test('fits into 80 columns with many workers, blocks and large counts', () => {
  const perWorker = Array.from({ length: 24 }, (_, index) => 400_000 - index)
  const text = format(
    {
      size: 24,
      messages: 10_000_000,
      tasksPerWorker: 16,
      pace: { kind: 'blocks', length: 2000, delayMs: 100 },
    },
    { perWorker, longestQueue: 100_000, delayMs: 112 },
  )
  assert.match(text, /400,000 to 399,977/)
  assert.match(text, /112 ms/)
  assert.ok(
    text.split('\n').every((line) => line.length <= 80),
    text,
  )
})
