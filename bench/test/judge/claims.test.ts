import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { analyse as analyseStudy } from '../../src/judge/analysis.ts'
import { decide } from '../../src/judge/claim.ts'
import { costsOf } from '../../src/judge/costs.ts'
import { newHeat } from '../../src/measure/heat.ts'
import type { Costs, Study } from '../../src/result/experiment.ts'
import type { Verdict } from '../../src/result/figures.ts'
import type { Result } from '../../src/result/result.ts'
import { measureOnPaper, PAPER, type Rates } from '../fixtures/laboratory.ts'

const RATES: Rates = {
  fast: [40_000, 41_000, 39_500],
  slow: [20_100, 20_400, 19_800],
  wide: [40_000, 41_200, 39_000],
}

function analyse(rates: Rates, change: (result: Result) => void = () => {}) {
  const result = measureOnPaper(rates)
  change(result)
  const { claims, cells } = analyseStudy(PAPER, result)
  const [twice, wide] = claims
  if (twice === undefined || wide === undefined) throw new Error('There are two claims.')
  return { twice, wide, cells }
}

test('a ratio of launches, its verdict and its reason', () => {
  const { twice, cells } = analyse(RATES)
  ok(Math.abs((twice.ratio?.value ?? 0) - 2) < 0.02, String(twice.ratio?.value))
  deepEqual([twice.verdict, twice.undecided], ['holds', null])
  match(twice.because ?? '', /^CPU for each: 49\.\d µs on slow, 24\.\d µs on fast\. Paper is patient\.$/)
  const fast = cells.find(({ system }) => system === 'fast')
  ok(Math.abs((fast?.figures.cpu?.value ?? 0) * 40_160 - 1) < 0.01, 'all of a core by the rate')
})

const failing = (system: string) => (result: Result) => {
  const slice = result.heats[1]?.slices.find(({ cell }) => cell === `race ${system}`)
  if (slice) slice.errors = { reset: 3 }
}

const UNDECIDED: [what: string, 'twice' | 'wide', RegExp, (result: Result) => void, Rates?][] = [
  ['a failed gate', 'twice', /^slow is void: 3 of [\d,]+ requests failed/, failing('slow')],
  [
    'a broken contract',
    'twice',
    /^fast is void: it breaks the contract: HEAD$/,
    ({ conformance }) => {
      for (const one of conformance) if (one.cell === 'race fast') one.differences = ['HEAD']
    },
  ],
  [
    'a system that was skipped',
    'twice',
    /^slow was not measured: there is no NGINX$/,
    ({ cells }) => {
      for (const cell of cells) if (cell.app === 'slow') cell.skipped = 'there is no NGINX'
    },
  ],
  ['a single launch', 'twice', /^one launch gives no interval$/, () => {}, { fast: [2], slow: [1] }],
  [
    'too few cores, although it is measured',
    'wide',
    /^wide needs 4 cores and one for the generator, and this machine has 1 for it$/,
    () => {},
  ],
  [
    'one core too few',
    'wide',
    /^wide needs 4 cores .* has 3 for it$/,
    ({ cells }) => {
      for (const { cores } of cells) cores.given = Math.min(3, cores.wanted)
    },
  ],
  ['too few cores, before what a better moment would mend', 'wide', /^wide needs 4 cores /, failing('wide')],
]
for (const [what, name, reason, change, rates = RATES] of UNDECIDED)
  test(`nothing is decided by ${what}`, () => {
    const claim = analyse(rates, change)[name]
    equal(claim.verdict, 'undecided here')
    match(claim.undecided ?? '', reason)
  })

test('with enough cores it decides, and they count', () => {
  const rates = { ...RATES, wide: [150_000, 155_000, 158_000] }
  const { wide, cells } = analyse(rates, ({ cells, heats }) => {
    for (const { cores } of cells) cores.given = cores.wanted
    for (const slice of heats.flatMap(({ slices }) => slices))
      if (slice.cell === 'race wide') slice.cpuSeconds = { app: 4 * slice.seconds, proxy: 0, generator: 1 }
  })
  equal(wide.verdict, 'holds')
  equal(cells.find(({ system }) => system === 'wide')?.coreUse, 1)
})

test('a probe and a load may be compared: two means, each with its own spread', () => {
  const tool = { systems: ['fast'], tool: 'wrk URL', expectedMs: 1, probe: async () => ({}) }
  const [claim] = PAPER.claims
  const claims = claim === undefined ? [] : [{ ...claim, against: 'tool', under: 'fast' }]
  const study: Study = { ...PAPER, races: { ...PAPER.races, tool }, claims }
  const result = measureOnPaper(RATES, study)
  const probed = (...rates: number[]) => {
    const heats = rates.map((rate, index) => ({
      ...newHeat({ race: 'tool', heat: index + 1 }),
      probes: [{ cell: 'tool fast', figures: { rate } }],
    }))
    return analyseStudy(study, { ...result, heats: [...result.heats, ...heats] }).claims[0]
  }
  const sure = probed(19_600, 20_000, 20_400)
  ok(Math.abs((sure?.ratio?.value ?? 0) - 2) < 0.02, String(sure?.ratio?.value))
  equal(sure?.verdict, 'holds')
  const { low, high } = probed(10_000, 20_000, 40_000)?.ratio ?? {}
  ok((low ?? 1) < 0.8 && (high ?? 1) > 5, 'a tool that varies makes the interval wide')
  equal(probed(20_000)?.undecided, 'one launch gives no interval')
})

describe('a verdict', () => {
  const examples: [what: string, low: number, high: number, published: number, Verdict][] = [
    ['at both ends of the size', 3.2, 5, 4, 'holds'],
    ['just below the size', 3.19, 5, 4, 'direction holds, size undecided'],
    ['just above the size', 3.2, 5.01, 4, 'direction holds, size undecided'],
    ['around the size', 2.4, 7.3, 4, 'direction holds, size undecided'],
    ['smaller, but on the same side', 1.5, 3.19, 4, 'direction holds, size differs'],
    ['larger', 5.01, 9, 4, 'direction holds, size differs'],
    ['below 1, and so it was published', 0.1, 0.2, 0.43, 'direction holds, size differs'],
    ['on the other side', 0.8, 0.95, 4, 'not reproduced here'],
    ['above 1 where less was published', 1.01, 1.2, 0.43, 'not reproduced here'],
    ['around 1', 0.9, 1.2, 4, 'undecided here'],
    ['at 1, far from the size', 0.91, 1.1, 0.7, 'not reproduced here'],
    ['at 1, far from the size, and a bit wider', 0.9, 1.1, 0.7, 'undecided here'],
    ['at 1, partly within the size', 0.92, 1.04, 0.74, 'undecided here'],
    ['around 1, within the size of what is near 1', 0.95, 1.2, 1.06, 'holds'],
    ['no effect', 0.91, 1.1, 1.05, 'holds'],
    ['no effect, published below 1', 0.91, 1.1, 0.95, 'holds'],
    ['an effect', 1.11, 1.4, 1.05, 'not reproduced here'],
    ['an effect the other way', 0.6, 0.9, 1.03, 'not reproduced here'],
    ['perhaps an effect', 0.95, 1.11, 1.03, 'undecided here'],
  ]
  for (const [what, low, high, published, verdict] of examples)
    test(`${what}: ${low} to ${high} against ${published}`, () =>
      equal(decide({ value: Math.sqrt(low * high), low, high }, published), verdict))

  test('needs an interval', () => equal(decide({ value: 4, low: null, high: null }, 4), 'undecided here'))
})

describe('what a unit of work costs', () => {
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
  const costs = (cpu: typeof CPU, own: Partial<Costs> = {}) =>
    costsOf({ ...COSTS, ...own }, (system) => cpu[system] ?? [])
  const rounded = (interval: Interval | null | undefined) =>
    interval && [interval.value, interval.low, interval.high].map((one) => one?.toFixed(4))

  test('is the line of each heat, the difference within it, and Student over heats', () => {
    const { lines, pairs } = costs(CPU)
    // t(0.975; 1) = 12.7062 (NIST). The fixed costs of base, 8 and 9, have a standard error of 0.5: 8.5 ± 6.3531.
    deepEqual(rounded(lines[0]?.fixed), ['8.5000', '2.1469', '14.8531'])
    const [pair] = pairs
    equal(pair?.heats, 2)
    deepEqual(rounded(pair?.fixed), ['2.5000', '-3.8531', '8.8531']) // 2 and 3
    deepEqual(rounded(pair?.perUnit), ['0.0500', '-0.5853', '0.6853']) // 0 and 0.1
    const at10 = pair?.points.find(({ amount }) => amount === 10)
    deepEqual(rounded(at10?.cost), ['3.0000', '-9.7062', '15.7062']) // 2 and 4
  })

  test('weighs relative errors, so that the dearest point does not decide what is fixed', () => {
    // Weights 1, 1/4, 1/25: slope 10/7, fixed 20/21, worked by hand.
    const lines = { base: { 0: 'base 0', 1: 'base 1', 2: 'base 2' } }
    const [line] = costs({ 'base 0': [1], 'base 1': [2], 'base 2': [5] }, { lines, pairs: [] }).lines
    deepEqual([line?.perUnit?.value.toFixed(4), line?.fixed?.value.toFixed(4)], ['1.4286', '0.9524'])
  })

  test('is not known of a heat without one of the figures, of a system without any, and of one amount', () => {
    const [pair] = costs({ ...CPU, 'more 10': [20, null] }).pairs
    deepEqual([pair?.heats, pair?.fixed?.value.toFixed(4)], [1, '2.0000'])
    const { lines, pairs } = costs({ ...CPU, 'more 10': [] })
    for (const one of [lines[1], pairs[0]]) deepEqual([one?.heats, one?.fixed, one?.points], [0, null, []])
    const [point] = costs(CPU, { lines: { base: { 0: 'base 0' } }, pairs: [] }).lines
    deepEqual([point?.fixed, point?.perUnit, point?.points[0]?.cost.value], [null, null, 8.5])
  })
})
