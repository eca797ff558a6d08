import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as numbers from '../src/numbers.ts'

test('each number is written in one way', () => {
  const written: [format: (value: number) => string, values: number[], texts: string][] = [
    [numbers.formatRate, [20_469.4, 1234, 100, 56.24, 0], '20,469 1,234 100 56.2 0.0'],
    // About three digits, also where rounding adds one.
    [numbers.formatShort, [17_582, 412.4, 99.96, 9.996, 1.479, 0.5], '17.6k 412 100 10.0 1.48 0.50'],
    [numbers.formatMinutes, [0, 59_499, 59_500, 185_000], '0:00 0:59 1:00 3:05'],
    [numbers.formatCost, [16.52e-6, 0.01022], '16.5 µs 10.2 ms'],
    [numbers.formatMs, [0.4118, 1.204, 12.34, 1204], '0.412 1.20 12.3 1,204'],
    [numbers.formatMegabytes, [107.4e6], '107'],
    [numbers.formatRatio, [1.4789, 0.9, 0.0223], '1.48 0.90 0.022'],
    [numbers.formatPercent, [0.004, 0.0996, 0.25, -0.07], '0.4 % 10 % 25 % -7.0 %'],
    [numbers.formatDistance, [0.93, 1.07], '7.0 % 7.0 %'],
    [numbers.formatSpeed, [0.97, 1.05], '3.0 % slower 5.0 % faster'],
    [(value) => numbers.orUnknown(value || null, numbers.formatRate), [0, 100], '— 100'],
    [(to) => numbers.formatRank({ from: 2, to }), [2, 4], '2 2–4'],
  ]
  for (const [format, values, texts] of written)
    assert.equal(values.map((value) => format(value)).join(' '), texts)
  assert.equal(numbers.formatTimestamp('2026-11-20T10:00:59.123Z'), '2026-11-20 10:00 UTC')
})

test('intervals show their ends, unless there are none or they say nothing; rates say the thousands once', () => {
  const { formatEnds, formatRateEnds, formatRatio, formatRatioInterval } = numbers
  const ratio = { value: 1.48, low: 1.43, high: 1.53 }
  const none = { value: 1.48, low: null, high: null }
  assert.deepEqual([ratio, none].map(formatRatioInterval), ['1.48 (1.43–1.53)', '1.48'])
  assert.equal(formatEnds(none, formatRatio), '—')
  assert.equal(formatEnds({ value: 1, low: 0.1, high: 1.1 }, formatRatio), 'too wide')
  const rates = (low: number, high: number) => formatRateEnds({ value: low, low, high })
  assert.deepEqual([rates(9812, 12_345), rates(2873, 3053)], ['9.81–12.3k', '2,873–3,053'])
  assert.deepEqual([rates(100, 200_000), formatRateEnds(null)], ['too wide', '—'])
})

test('app and proxy stand together; the unknown is not zero', () => {
  const parts = (app: number | null, proxy: number | null) =>
    numbers.formatParts({ app, proxy }, numbers.formatMicros)
  assert.deepEqual([parts(14e-6, 20.7e-6), parts(14e-6, null), parts(null, null)], ['14.0+20.7', '14.0', '—'])
})
