import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { costsOf } from '../../src/judge/costs.ts'
import type { Costs } from '../../src/result/experiment.ts'

/** Two heats, on the lines 8 + x and 9 + 1.1x; 10 + x and 12 + 1.2x. */
const CPU: Readonly<Record<string, readonly (number | null)[]>> = {
  'base 0': [8, 9],
  'base 10': [18, 20],
  'base 100': [108, 119],
  'more 0': [10, 12],
  'more 10': [20, 24],
  'more 100': [110, 132],
}

const lineOf = (name: string) => ({ 0: `${name} 0`, 10: `${name} 10`, 100: `${name} 100` })

const COSTS: Costs = {
  title: 'a page',
  race: 'page',
  unit: 'item',
  shown: 10,
  lines: { base: lineOf('base'), more: lineOf('more') },
  pairs: [['more', 'base']],
}

const analyse = (cpu: typeof CPU, costs = COSTS) => costsOf(costs, (system) => cpu[system] ?? [])

const rounded = (interval: Interval | null | undefined) =>
  interval && [interval.value, interval.low, interval.high].map((one) => one?.toFixed(4))

test('what costs more: the line of each heat, the difference within it, and Student over heats', () => {
  const { lines, pairs } = analyse(CPU)
  // t(0.975; 1) = 12.7062 (NIST). The fixed costs of base, 8 and 9, have a standard error of 0.5: 8.5 ± 6.3531.
  deepEqual(rounded(lines[0]?.fixed), ['8.5000', '2.1469', '14.8531'])
  const [pair] = pairs
  equal(pair?.heats, 2)
  deepEqual(rounded(pair?.fixed), ['2.5000', '-3.8531', '8.8531']) // 2 and 3
  deepEqual(rounded(pair?.perUnit), ['0.0500', '-0.5853', '0.6853']) // 0 and 0.1
  const at10 = pair?.points.find(({ amount }) => amount === 10)
  deepEqual(rounded(at10?.cost), ['3.0000', '-9.7062', '15.7062']) // 2 and 4
})

test('a line weighs relative errors, so that the dearest point does not decide what is fixed', () => {
  // Weights 1, 1/4, 1/25: slope 10/7, fixed 20/21, worked by hand.
  const [line] = analyse(
    { 'base 0': [1], 'base 1': [2], 'base 2': [5] },
    { ...COSTS, lines: { base: { 0: 'base 0', 1: 'base 1', 2: 'base 2' } }, pairs: [] },
  ).lines
  deepEqual(rounded(line?.perUnit), ['1.4286', undefined, undefined])
  deepEqual(rounded(line?.fixed), ['0.9524', undefined, undefined])
})

test('a heat without one of the figures does not count, and a system without any has no figures', () => {
  const [pair] = analyse({ ...CPU, 'more 10': [20, null] }).pairs
  equal(pair?.heats, 1)
  deepEqual(rounded(pair?.fixed), ['2.0000', undefined, undefined])
  const { lines, pairs } = analyse({ ...CPU, 'more 10': [] })
  deepEqual(
    [lines[1], pairs[0]].map((one) => [one?.heats, one?.fixed, one?.points]),
    [
      [0, null, []],
      [0, null, []],
    ],
  )
})

test('one amount is a point and no line', () => {
  const { lines } = analyse(CPU, { ...COSTS, lines: { base: { 0: 'base 0' } }, pairs: [] })
  deepEqual([lines[0]?.fixed, lines[0]?.perUnit], [null, null])
  deepEqual(rounded(lines[0]?.points[0]?.cost), ['8.5000', '2.1469', '14.8531'])
})
