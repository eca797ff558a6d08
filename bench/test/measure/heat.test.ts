import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Driver, SlicePlan } from '../../src/drivers/driver.ts'
import type { Server, Servers } from '../../src/environments/environment.ts'
import { newCell } from '../../src/experiment/cells.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import { runHeat } from '../../src/measure/heat.ts'
import type { Cell } from '../../src/model/cell.ts'

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
  stop: async () => [],
})

/** Serves as many requests per second as the list says of each cell, and takes no time. */
const driverOf = (rates: readonly number[]): Driver => ({
  name: 'startgrid',
  version: '1.0.0',
  capabilities: { openLoop: true, unixSockets: true, checks: 'inside', minSliceMs: 1, warmupMs: 0 },
  pids: () => [],
  check: async () => ({ checked: 0, errors: {} }),
  responseLength: async () => 2,
  stop: async () => {},
  run: async ({ target, durationMs }: SlicePlan) => {
    const seconds = durationMs / 1000
    const rate = rates[('port' in target ? target.port : 0) - 1] ?? 0
    return {
      ...{ requests: rate * seconds, seconds, rate, checked: 1, errors: {} },
      latencySeconds: { mean: 0.001, p50: 0.001, p99: 0.002 },
      generator: { cpuSeconds: 0.1, waitSeconds: 0 },
    }
  },
})

/** The slices of warm-up, by the names of their cells. */
async function warmupOf(
  cells: Cell[],
  rates: readonly number[],
  { leftMs = Number.POSITIVE_INFINITY, slowness = 1 } = {},
): Promise<string[]> {
  const { slices } = await runHeat({
    expectedMs: 1000,
    planned: { race: 'status', heat: 1, seed: 7 },
    cells,
    // So long that the time which passes meanwhile does not matter: all passes take 3,000 s.
    settings: { slices: 10, sliceMs: 100_000 },
    slowness,
    environment: { start: async () => serversOf(cells) },
    driverOf: () => driverOf(rates),
    workloadOf: () => WORKLOADS.status,
    moreWarmup: new Map(),
    endsAt: performance.now() + leftMs,
    signal: new AbortController().signal,
    onProgress: () => {},
  })
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
    // The coldest cell first, for there may not be time for all.
    assert.deepEqual(slices.slice(6), ['slower', 'slower', 'slow'])
  })

  test('takes no longer if that would take time from the planned passes', async () => {
    assert.equal((await warmupOf(cells, rates, { leftMs: 2_000_000 })).length, 6)
    assert.equal((await warmupOf(cells, rates, { leftMs: 4_000_000 })).length, 9)
  })

  test('of a machine that is half as fast leaves time for half of them', async () => {
    assert.equal((await warmupOf(cells, rates, { leftMs: 2_000_000, slowness: 2 })).length, 9)
    assert.equal((await warmupOf(cells, rates, { leftMs: 1_000_000, slowness: 2 })).length, 6)
  })
})
