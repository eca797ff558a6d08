import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  differenceOf,
  holm,
  meanInterval,
  pValue,
  rankRanges,
  rowMean,
  toInterval,
  withComponents,
} from '../src/estimate.ts'
import { mean, median, quantile, sampleVariance } from '../src/moments.ts'
import { fitLayouts } from '../src/variances.ts'
import { near } from './near.ts'

// Student 1908: hours of sleep gained by two drugs; R: t.test(extra ~ group, data = sleep).
const FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2]
const SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]

test('two variances: Welch and Satterthwaite, as R has them', () => {
  const components = [FIRST, SECOND].map((values) => ({ variance: sampleVariance(values) / 10, df: 9 }))
  const estimate = withComponents(mean(FIRST) - mean(SECOND), components, 18)
  near(estimate.estimate / estimate.standardError, -1.8608, 5e-5)
  near(estimate.df, 17.776, 5e-5)
  near(pValue(estimate), 0.07939, 5e-5)
  const { low, high } = toInterval(estimate)
  near(Math.log(low ?? 0), -3.3654832, 1e-7)
  near(Math.log(high ?? 0), 0.2054832, 1e-7)
})

test('degrees of freedom are those of the only variance, and never more than the limit or less than one', () => {
  near(
    withComponents(
      0,
      [
        { variance: 2, df: 5 },
        { variance: 0, df: 1 },
      ],
      100,
    ).df,
    5,
  )
  near(withComponents(0, [{ variance: 2, df: 50 }], 8).df, 8)
  near(withComponents(0, [{ variance: 2, df: 0.2 }], 8).df, 1)
})

test('without any variance there is no doubt', () => {
  const nothing = withComponents(Math.log(2), [{ variance: 0, df: 3 }], 3)
  const { value, low, high } = toInterval(nothing)
  for (const end of [value, low, high]) near(end, 2)
  assert.equal(pValue(nothing), 0)
  assert.equal(pValue(withComponents(0, [], 3)), 1)
})

test('with five columns in common a pair has the variance of its differences, whatever a third row does; with fewer that of its rows', () => {
  // Student's sleep data again, in pairs; R: t.test(extra ~ group, data = sleep, paired = TRUE).
  const noisy = FIRST.map((_, index) => (index % 2 === 0 ? 50 : -50))
  const fitted = ([FIRST, SECOND, noisy] as (number | null)[][]).map((row) => [...row])
  const pairOf = (values: (number | null)[][]) => {
    const [layout] = fitLayouts([{ names: ['a', 'b', 'c'], values }])
    return layout && differenceOf(layout, 0, 1)
  }
  const paired = pairOf(fitted)
  near((paired?.estimate ?? 0) / (paired?.standardError ?? 0), -4.0621, 5e-5)
  near(paired?.df, 9)
  const few = pairOf(fitted.map((row) => row.slice(0, 4)))
  assert.ok((few?.standardError ?? 0) > 3 * (paired?.standardError ?? 0) && (few?.df ?? 99) < 9)
  assert.equal(pairOf(fitted.map((row) => row.slice(0, 1))), null)
})

test('the mean of values is Student t, worked by hand', () => {
  const { value, low, high } = meanInterval([1, 2, 3]) // standard error 1/√3; t(0.975; 2) = 4.302653 (NIST)
  for (const [end, expected] of [
    [value, 2],
    [low, 2 - 4.302653 / Math.sqrt(3)],
    [high, 2 + 4.302653 / Math.sqrt(3)],
  ] as const)
    near(end ?? 0, expected, 1e-6)
  assert.deepEqual(meanInterval([5]), { value: 5, low: null, high: null })
})

test('the mean of a single row is Student t on logarithms, worked by hand', () => {
  // Logarithms to base 10 are 0, 1, 2: mean 1, standard deviation 1, standard error 1/√3; t(0.975; 2) = 4.302653 (NIST).
  const [fitted] = fitLayouts([{ names: ['a'], values: [[1, 10, 100].map(Math.log)] }])
  if (fitted === undefined) throw new Error('There is no layout.')
  const { value, low, high } = rowMean(fitted, 0)
  near(value, 10)
  near(low, 10 ** (1 - 4.302653 / Math.sqrt(3)), 1e-6)
  near(high, 10 ** (1 + 4.302653 / Math.sqrt(3)), 1e-6)
})

test('one column gives a mean without an interval', () => {
  const [fitted] = fitLayouts([{ names: ['a', 'b'], values: [[Math.log(5)], [1]] }])
  if (fitted === undefined) throw new Error('There is no layout.')
  const { value, low, high } = rowMean(fitted, 0)
  near(value, 5)
  assert.deepEqual([low, high], [null, null])
})

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

test('rank ranges: all tied, all apart, and the middle tied with both ends', () => {
  const names = ['a', 'b', 'c']
  const ranges = (...pairs: string[]) =>
    rankRanges(names, (a, b) => pairs.includes(`${a}${b}`)).map(({ from, to }) => `${from}–${to}`)
  assert.deepEqual(ranges(), ['1–3', '1–3', '1–3'])
  assert.deepEqual(ranges('ab', 'ac', 'bc'), ['1–1', '2–2', '3–3'])
  assert.deepEqual(ranges('ac'), ['1–2', '1–3', '2–3'])
})

test('the median is the middle of an odd number of values, and the mean of the two in the middle of an even one', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([9, 1, 5, 6]), 5.5)
  assert.ok(Number.isNaN(median([])))
})

test('a quantile lies between the two nearest values', () => {
  assert.equal(quantile([4, 1, 3, 2], 0.75), 3.25)
  assert.equal(quantile([7], 0.75), 7)
  assert.deepEqual([quantile([1, 2, 3], 0), quantile([1, 2, 3], 1)], [1, 3])
  assert.ok(Number.isNaN(quantile([], 0.5)))
})
