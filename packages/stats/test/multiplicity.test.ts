import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holm, rankRanges } from '../src/multiplicity.ts'
import { near } from './near.ts'

test('adjusted p-values are those of published examples', () => {
  const examples: [number[], number[]][] = [
    // The documentation of pingouin.holm.
    [
      [0.5, 0.003, 0.32, 0.054, 0.0003],
      [0.64, 0.012, 0.64, 0.162, 0.0015],
    ],
    // The documentation of @stdlib/stats-padjust.
    [
      [0.319, 0.201, 0.4, 0.374, 0.113],
      [0.957, 0.804, 0.957, 0.957, 0.565],
    ],
  ]
  for (const [given, expected] of examples)
    for (const [index, p] of holm(given).entries()) near(p, expected[index] ?? Number.NaN, 1e-12)
})

test('one test is not adjusted, and none are none', () => {
  assert.deepEqual(holm([0.03]), [0.03])
  assert.deepEqual(holm([]), [])
})

test('adjusted p-values end at 1', () => {
  assert.deepEqual(holm([0.9, 0.8]), [1, 1])
})

test('rank ranges: all tied, all apart, and the middle tied with both ends', () => {
  const names = ['a', 'b', 'c']
  const ranges = (...pairs: string[]) =>
    rankRanges(names, (a, b) => pairs.includes(`${a}${b}`)).map(({ from, to }) => `${from}–${to}`)
  assert.deepEqual(ranges(), ['1–3', '1–3', '1–3'])
  assert.deepEqual(ranges('ab', 'ac', 'bc'), ['1–1', '2–2', '3–3'])
  assert.deepEqual(ranges('ac'), ['1–2', '1–3', '2–3'])
})
