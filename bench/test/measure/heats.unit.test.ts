import { deepEqual, equal, match, notDeepEqual, ok } from 'node:assert/strict'
import { beforeEach, describe, mock, test } from 'node:test'
import type { LoadOptions } from '@startgrid/loadgen/plan.ts'
import { silentRun } from '../../simulation/method.ts'
import { newCell } from '../../src/experiment/cells.ts'
import { commonRate } from '../../src/experiment/open-loop.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { baseOf, measureAtCommonRate } from '../../src/measure/common-rate.ts'
import { measurePasses, runHeat } from '../../src/measure/heat.ts'
import { type HeatsRun, runHeats } from '../../src/measure/heats.ts'
import { isSteady } from '../../src/measure/warmup.ts'
import type { ProbeRace } from '../../src/result/experiment.ts'
import type { Heat } from '../../src/result/heat.ts'
import type { Cell, Settings, Warning } from '../../src/result/result.ts'
import {
  fakeGenerator,
  fakeServer,
  histogramOf,
  LATE,
  measureOnPaper,
  PAPER,
  paperSliceOf,
  startedOf,
  uniform,
} from '../fixtures/laboratory.ts'

/** Heats without servers and without load: nothing takes time but what a test adds to the clock. */

let now = 0
mock.method(performance, 'now', () => now)
beforeEach(() => {
  now = 0
})

interface Setting {
  seed?: number
  onRun?(plan: LoadOptions): void
  /** What an open loop gives. */
  offer?(plan: LoadOptions): object
  measure?: typeof measurePasses
  settings?: Pick<Settings, 'heats' | 'openLoop'>
}

/** @param rates responses per second, by the place of a cell */
function heatOf(
  cells: Cell[],
  rates: readonly number[],
  { seed = 7, onRun, offer, measure = measurePasses, settings = { heats: 1, openLoop: null } }: Setting,
): Promise<Heat> {
  // Of every cell the port is its place.
  const running = new Map(cells.map(({ id }, index) => [id, fakeServer(index + 1)]))
  const generator = fakeGenerator(async (plan) => {
    onRun?.(plan)
    if (offer && plan.rate !== undefined) return offer(plan)
    const seconds = plan.durationMs / 1000
    const rate = rates[('port' in plan.target ? plan.target.port : 0) - 1] ?? 0
    return { requests: rate * seconds, seconds, rate }
  })
  return runHeat({
    expectedMs: 1000,
    planned: { race: 'race', heat: 1, seed },
    cells,
    settings: { ...settings, slices: 10, sliceMs: 100_000 },
    start: async () => startedOf(running),
    generator,
    workloadOf: () => ({ path: '/json', expect: {} }),
    measure,
    signal: new AbortController().signal,
    onProgress() {},
  })
}

/** Half a second of load of its own; `warmupRequests` is what that gives on a fast machine. */
const coldCell = (id: string, warmupRequests: number) =>
  newCell({ id, race: 'race', app: id, workload: 'GET /', connections: 64, warmupMs: 500, warmupRequests })

test('a cell is warm with as many requests as on a fast machine, and after twice its time at most', async () => {
  const cells = [coldCell('fast', 500), coldCell('slow', 1000), coldCell('slower', 1000)]
  const { slices } = await heatOf(cells, [1000, 1500, 100], {})
  const warmup = slices.filter(({ phase }) => phase === 'warmup').map(({ cell }) => cell)
  const counts = cells.map(({ id }) => warmup.filter((one) => one === id).length)
  deepEqual(counts, [2, 3, 4])
  equal(warmup.at(-1), 'slower', 'in turns')
})

test('a system is steady when it was at two looks: at the first one it may be luck', () => {
  const falling = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
  const flat = Array(9).fill(1)
  ok(isSteady(flat))
  for (const costs of [falling, flat.slice(1), [8, 7, 6, 5, 6, 5, 5, 5], []]) ok(!isSteady(costs))
  // The first eight look level, the next eight do not.
  equal(isSteady([5, 5, 5, 5, 5, 5, 5, 5, 1, 1, 1]), false)
})

test('what is drawn is the same for all cells of a pass, another in each slice of warm-up, and repeats by the seed', async () => {
  /** The seed of each load, and the slice that it became. */
  const drawn = async (seed: number) => {
    const seeds: (number | undefined)[] = []
    const onRun = (plan: LoadOptions) => seeds.push(plan.seed)
    const { slices } = await heatOf([coldCell('one', 0), coldCell('other', 0)], [1000, 1000], { seed, onRun })
    return slices.map(({ pass }, index) => ({ pass, seed: seeds[index] }))
  }
  const all = await drawn(7)
  const passes = new Set(all.flatMap(({ pass }) => pass ?? []))
  const warmup = all.filter(({ pass }) => pass === null)
  ok(passes.size > 1 && warmup.length > 1 && all.every(({ seed }) => seed !== undefined))
  equal(new Set(all.map(({ seed }) => seed)).size, passes.size + warmup.length)
  equal(new Set(all.map(({ pass, seed }) => `${pass} ${seed}`)).size, passes.size + warmup.length)
  deepEqual(await drawn(7), all)
  notDeepEqual(await drawn(8), all)
})

describe('all heats', () => {
  /** A race whose heats move on the clock. @param seconds of each of them */
  async function run(
    expectedMs: number,
    seconds: readonly number[],
    maxTimeMs: number | null,
    { looks, ...options }: Parameters<typeof runHeats>[1] & { looks?: number[] } = {},
  ) {
    now = 0
    const race: ProbeRace = {
      systems: ['probed'],
      expectedMs,
      probe: async (_system, { heat }) => {
        now += 1000 * (seconds[heat - 1] ?? 0)
        return { rate: 1 }
      },
    }
    const experiment = { name: '', systems: { probed: { title: 'probed' } }, races: { race }, claims: [] }
    const result = createStudyResult(experiment, { profile: 'full', heats: seconds.length, seed: 1 }, '')
    result.settings.maxTimeMs = maxTimeMs
    if (looks !== undefined) {
      result.settings.looks = looks
      result.pilots = [{ race: 'race', decides: 'rate', warmupMs: 0, systems: [], difference: null }]
    }
    const said: string[] = []
    const warnings: string[] = []
    const prepared = {
      experiment,
      result,
      signal: new AbortController().signal,
      progress: { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) },
      endsAt: maxTimeMs ?? Number.POSITIVE_INFINITY,
      warn: ({ text }: Warning) => warnings.push(text),
      store() {},
    } as unknown as Parameters<typeof runHeats>[0]
    await runHeats(prepared, options)
    return { said, warnings, enoughMs: result.enoughMs, heats: result.heats.map(({ heat }) => heat) }
  }

  test('end before one that does not fit, if it takes as long as the last one; the first two are always run', async () => {
    const { heats, warnings, enoughMs } = await run(10_000, [10, 11, 11, 30, 5], 64_000)
    deepEqual([heats, enoughMs], [[1, 2, 3, 4], 100_000])
    match(
      warnings.join(),
      /^Time was up after 1\.07 minutes: heats from number 5 on .* --max-time 100s would be enough\.$/,
    )
    const slow = await run(10_000, [60, 60, 60], 70_000)
    deepEqual([slow.heats, slow.warnings.length], [[1, 2], 1])
  })

  test('of commands end at a planned look, once it is enough; between looks nobody asks', async () => {
    const asked: number[] = []
    const endsAt = (look: number) => () => asked.push(now / 1000) === look
    const ten = Array(10).fill(10)
    const run2 = await run(10_000, ten, null, { looks: [2, 5, 10], isEnough: endsAt(2) })
    deepEqual([run2.heats.length, asked, run2.warnings], [5, [20, 50], []])
    deepEqual(run2.said, ['At most 10 heats, about 1:40 (minutes:seconds).'])
    equal((await run(10_000, ten, null, { looks: [2, 5, 10], isEnough: () => false })).heats.length, 10)
  })

  test('have the same order and seeds, whether another race is void or not', async () => {
    /** The order in which three systems were asked in each heat. */
    const ordersOf = async (isVoid: boolean) => {
      const orders = Array.from({ length: 6 }, (): string[] => [])
      const probe: ProbeRace['probe'] = async (system, { heat }) => {
        if (system === 'broken' && isVoid) throw new Error('it did not start')
        if (system !== 'broken') orders[heat - 1]?.push(system)
        return { rate: 1 }
      }
      const names = ['one', 'two', 'three']
      const races = {
        first: { systems: ['broken'], expectedMs: 1, probe },
        second: { systems: names, expectedMs: 1, probe },
      }
      const systems = Object.fromEntries(['broken', ...names].map((title) => [title, { title }]))
      const experiment = { name: '', systems, races, claims: [] }
      const result = createStudyResult(experiment, { profile: 'full', heats: 6, seed: 1 }, '')
      const start = async () => ({})
      await runHeats({ ...silentRun(result), experiment, start } as unknown as HeatsRun)
      return orders
    }
    const orders = await ordersOf(false)
    ok(new Set(orders.map(String)).size > 1, 'in random order')
    deepEqual(await ordersOf(true), orders)
  })

  test('that were only hoped for are dropped without a word', async () => {
    const { heats, warnings } = await run(10_000, [10, 10, 10, 10], 32_000, { asked: 3 })
    deepEqual([heats, warnings], [[1, 2, 3], []])
  })
})

describe('one rate for all', () => {
  const SYSTEMS = ['fast', 'slow', 'wide']
  /** Lags of a generator that stalled for a fifth of the time, and of one that leaves the median. */
  const STALLED = histogramOf(uniform(100, 0.001).fill(2, 80))
  const HICCUP = histogramOf(uniform(100, 0.001).fill(30, 98))
  const FULL = { fast: 20_000, slow: 20_000, wide: 20_000 }

  test('is half of what the slowest can do, in whole tens, and nobody measured has none', () => {
    equal(commonRate([40_000, 20_131]), 10_070)
    equal(commonRate([40_000, 20_131, 5000]), 2500)
    deepEqual([commonRate([]), commonRate([0])], [null, null])
  })

  test('is that of the systems that a claim about latency names, and without one of all who are asked', () => {
    deepEqual(baseOf(LATE, 'race'), ['fast', 'slow'])
    deepEqual(baseOf({ ...LATE, claims: PAPER.claims.slice(0, 1) }, 'race'), SYSTEMS)
  })

  /** Loads of which only the rate is known, after slices of each rate. */
  async function offer(
    rates: Readonly<Record<string, number>>,
    {
      disturbed = '',
      known = 10_000,
      lags = [],
    }: { disturbed?: string; known?: number | null; lags?: string[] } = {},
  ) {
    const { cells, settings } = measureOnPaper({ fast: [1], slow: [1], wide: [1] }, LATE)
    const left = [...lags]
    const { trials, commonRate } = await heatOf(cells, [1, 1, 1], {
      settings,
      measure: async (course) => {
        for (const [system, rate] of Object.entries(rates))
          course.record.slices.push({
            ...paperSliceOf(system, rate, 'measure'),
            disturbed: disturbed === system,
          })
        await measureAtCommonRate(course, LATE, known ?? undefined)
      },
      offer: ({ rate = 0 }) => ({
        rate,
        requests: 0,
        seconds: 1,
        checked: 0,
        lag: null,
        self: { bound: false },
        openLoop: { offered: rate, achieved: rate },
        histograms: { latency: histogramOf(uniform(1000, 1)), lag: left.shift() ?? null },
      }),
    })
    return { loads: trials.map(({ cell }) => cell.replace('race ', '')).toSorted(), ...commonRate }
  }

  test('is offered once to each, whatever others do', async () => {
    const { loads, tooSlow } = await offer(FULL)
    deepEqual([loads, tooSlow], [SYSTEMS, []])
  })

  test('is offered again if the generator was so late that the median does not count, twice at most', async () => {
    equal((await offer(FULL, { lags: [STALLED, HICCUP, STALLED] })).loads.length, 5)
    equal((await offer(FULL, { lags: Array(9).fill(STALLED) })).loads.length, 6)
  })

  test('is the known one, or one that this heat finds', async () => {
    const rates = { fast: 40_000, slow: 11_200, wide: 900 }
    equal((await offer(rates)).rate, 10_000)
    equal((await offer(rates, { known: null })).rate, 5600)
  })

  test('is not offered to a system whose capacity is too near; a disturbed capacity says nothing', async () => {
    const { loads, tooSlow } = await offer({ fast: 11_000, slow: 11_200, wide: 900 }, { disturbed: 'wide' })
    deepEqual([loads, tooSlow], [['slow', 'wide'], ['race fast']])
  })
})
