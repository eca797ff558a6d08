import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LoadOptions } from '@startgrid/loadgen/plan.ts'
import { newCell } from '../../src/experiment/cells.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import { measurePasses, runHeat } from '../../src/measure/heat.ts'
import type { Cell } from '../../src/result/cell.ts'
import type { Slice } from '../../src/result/heat.ts'
import type { Server, Servers } from '../../src/servers/servers.ts'
import { fakeGenerator } from '../fixtures/evidence.ts'

const CELL = newCell({
  ...{ id: 'target/status direct', race: 'status', app: 'target/status', role: 'status' },
  ...{ workload: 'GET /_/status', connections: 64, warmupMs: 500 },
})

/** Half a second of load of its own; `warmupRequests` is what that gives on a fast machine. */
const cellOf = (id: string, warmupRequests: number): Cell => {
  assert.ok(CELL)
  return { ...CELL, id, app: id, warmupMs: 500, warmupRequests }
}

const ACCOUNT = {
  cpuSeconds: { app: 0.1, proxy: 0, generator: 0.1 },
  disturbance: { serverWait: 0, generatorWait: 0, serverForeign: 0, generatorForeign: 0 },
}

/** Of every cell the port is its place. */
const serversOf = (cells: readonly Cell[]): Servers => ({
  running: new Map(
    cells.map(({ id }, index): [string, Server] => [
      id,
      {
        target: { host: '127.0.0.1', port: index + 1 },
        whyEnded: async () => null,
        beginAccount: async () => async () => () => ACCOUNT,
      },
    ]),
  ),
  failures: new Map(),
  launches: async () => [],
  stop: async () => {},
})

/** Serves as many requests per second as the list says of each cell, and takes no time. */
const generatorOf = (rates: readonly number[], onRun: (plan: LoadOptions) => void = () => {}) =>
  fakeGenerator(async (plan) => {
    onRun(plan)
    const seconds = plan.durationMs / 1000
    const rate = rates[('port' in plan.target ? plan.target.port : 0) - 1] ?? 0
    return { requests: rate * seconds, seconds, rate }
  })

interface Setting {
  seed?: number
  onRun?(plan: LoadOptions): void
}

async function slicesOf(
  cells: Cell[],
  rates: readonly number[],
  { seed = 7, onRun }: Setting = {},
): Promise<readonly Slice[]> {
  const { slices } = await runHeat({
    expectedMs: 1000,
    planned: { race: 'status', heat: 1, seed },
    cells,
    settings: { slices: 10, sliceMs: 100_000 },
    start: async () => serversOf(cells),
    generator: generatorOf(rates, onRun),
    workloadOf: () => WORKLOADS.status,
    measure: measurePasses,
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  return slices
}

/** The slices of warm-up, by the names of their cells. */
async function warmupOf(...given: Parameters<typeof slicesOf>): Promise<string[]> {
  const slices = await slicesOf(...given)
  return slices.filter(({ phase }) => phase === 'warmup').map(({ cell }) => cell)
}

const countOf = (names: readonly string[], name: string) => names.filter((one) => one === name).length

describe('the warm-up', () => {
  const cells = [cellOf('fast', 500), cellOf('slow', 1000), cellOf('slower', 1000)]
  const rates = [1000, 1500, 100]

  test('lasts until a cell has served as many requests as on a fast machine, at most twice its time', async () => {
    const slices = await warmupOf(cells, rates)
    assert.deepEqual(
      ['fast', 'slow', 'slower'].map((name) => countOf(slices, name)),
      [2, 3, 4],
    )
    assert.deepEqual(slices.slice(-1), ['slower'], 'in turns')
  })
})

describe('what is drawn at random', () => {
  const cells = [cellOf('one', 0), cellOf('other', 0)]

  /** The seed of each load, and the slice that it became. */
  const drawn = async (seed: number) => {
    const seeds: (number | undefined)[] = []
    const slices = await slicesOf(cells, [1000, 1000], { seed, onRun: (plan) => seeds.push(plan.seed) })
    return slices.map(({ phase, pass }, index) => ({ phase, pass, seed: seeds[index] }))
  }

  test('is the same for all cells of a pass, and another in each pass and each slice of warm-up', async () => {
    const slices = await drawn(7)
    const passes = Map.groupBy(
      slices.filter(({ phase }) => phase === 'measure'),
      ({ pass }) => pass,
    )
    const ofPasses = [...passes.values()].map((own) => new Set(own.map(({ seed }) => seed)))
    assert.ok(passes.size > 1)
    for (const own of ofPasses) assert.equal(own.size, 1)
    const all = [
      ...ofPasses.flatMap((own) => [...own]),
      ...slices.filter(({ phase }) => phase === 'warmup').map(({ seed }) => seed),
    ]
    assert.ok(all.every((seed) => seed !== undefined))
    assert.equal(new Set(all).size, all.length)
  })

  test('is repeated by the seed of the heat, and no other', async () => {
    assert.deepEqual(await drawn(7), await drawn(7))
    assert.notDeepEqual(await drawn(7), await drawn(8))
  })
})
