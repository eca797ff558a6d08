import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatDistance,
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatMinutes,
  formatMs,
  formatParts,
  formatPercent,
  formatRank,
  formatRate,
  formatRateEnds,
  formatRatio,
  formatRatioInterval,
  formatShort,
  formatTimestamp,
  orUnknown,
} from '../src/numbers.ts'

test('rates have thousands, and a digit after the point where they are small', () => {
  assert.deepEqual([20_469.4, 1234, 100, 56.24, 0].map(formatRate), ['20,469', '1,234', '100', '56.2', '0.0'])
})

test('short figures have about three digits, also where rounding adds one', () => {
  assert.deepEqual([17_582, 412.4, 99.96, 16.52, 9.996, 1.479, 0.5].map(formatShort), [
    '17.6k',
    '412',
    '100',
    '16.5',
    '10.0',
    '1.48',
    '0.50',
  ])
})

test('units: microseconds, milliseconds, 10^6 bytes, times', () => {
  assert.deepEqual([0, 59_499, 59_500, 185_000].map(formatMinutes), ['0:00', '0:59', '1:00', '3:05'])
  assert.equal(formatMicros(16.52e-6), '16.5')
  assert.deepEqual([0.4118, 1.204, 12.34, 1204].map(formatMs), ['0.412', '1.20', '12.3', '1,204'])
  assert.equal(formatMegabytes(107.4e6), '107')
  assert.equal(formatTimestamp('2026-11-20T10:00:59.123Z'), '2026-11-20 10:00 UTC')
})

test('ratios and percentages', () => {
  assert.deepEqual([1.4789, 0.9, 0.0223].map(formatRatio), ['1.48', '0.90', '0.022'])
  assert.deepEqual([0.004, 0.0996, 0.25, -0.07].map(formatPercent), ['0.4 %', '10 %', '25 %', '-7.0 %'])
  assert.deepEqual([0.93, 1.07].map(formatDistance), ['7.0 %', '7.0 %'])
})

test('intervals show their ends, unless there are none or they say nothing', () => {
  assert.equal(formatEnds({ value: 0.9, low: 0.852, high: 0.949 }, formatRatio), '0.85–0.95')
  assert.equal(formatEnds({ value: 0.9, low: null, high: null }, formatRatio), '—')
  assert.equal(formatEnds(null, formatRatio), '—')
  assert.equal(formatEnds({ value: 1, low: 0.1, high: 1.1 }, formatRatio), 'too wide')
})

test('ends of rates say the thousands once', () => {
  assert.equal(formatRateEnds({ value: 11_000, low: 9812, high: 12_345 }), '9.81–12.3k')
  assert.equal(formatRateEnds({ value: 2900, low: 2873, high: 3053 }), '2,873–3,053')
  assert.equal(formatRateEnds({ value: 9000, low: 100, high: 200_000 }), 'too wide')
  assert.equal(formatRateEnds(null), '—')
})

test('a ratio in a sentence has its interval, if it has one', () => {
  assert.equal(formatRatioInterval({ value: 1.48, low: 1.43, high: 1.53 }), '1.48 (1.43–1.53)')
  assert.equal(formatRatioInterval({ value: 1.48, low: null, high: null }), '1.48')
})

test('app and proxy stand together; the unknown is not zero', () => {
  assert.equal(formatParts({ app: 14e-6, proxy: 20.7e-6 }, formatMicros), '14.0+20.7')
  assert.equal(formatParts({ app: 14e-6, proxy: null }, formatMicros), '14.0')
  assert.equal(formatParts({ app: null, proxy: null }, formatMicros), '—')
  assert.deepEqual([orUnknown(null, formatRate), orUnknown(0, formatRate)], ['—', '0.0'])
})

test('a rank is a range where it is not sure', () => {
  assert.deepEqual([formatRank({ from: 1, to: 1 }), formatRank({ from: 2, to: 4 })], ['1', '2–4'])
})
