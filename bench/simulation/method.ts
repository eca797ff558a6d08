import type { LoadOptions } from '@startgrid/loadgen/plan.ts'
import type { LoadResult } from '@startgrid/loadgen/result.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { readOptions } from '../src/cli/options.ts'
import { WARMUP_SLICE_MS } from '../src/experiment/cells.ts'
import { gridExperiment } from '../src/experiment/grid.ts'
import { createResult } from '../src/experiment/result.ts'
import { analyse } from '../src/judge/analysis.ts'
import { type HeatsRun, runHeats } from '../src/measure/heats.ts'
import type { Generator } from '../src/measure/load.ts'
import type { Cell, Result } from '../src/result/result.ts'
import type { Account, Server, Servers } from '../src/servers/servers.ts'
import type { Findings } from './score.ts'
import { APPS, type HeatOfWorld, type Outcome, type World } from './world.ts'

/**
 * The benchmark itself, seen from outside: it plans cells and heats, measures servers that are simulated, and judges with all its gates. Only this file and
 * race.ts know it.
 */

/** Of the benchmark's own profile, only the number of heats and the time can be chosen. */
export async function measureByBenchmark(
  world: World,
  { heats, seed }: { heats: number; seed: number },
): Promise<{ findings: Findings; result: Result }> {
  const options = { ...readOptions(['--only', APPS.join(',')]), seed, heats }
  const experiment = gridExperiment(options)
  const result = createResult(experiment, options, '')
  result.settings.cores = { server: 0, generator: 1 }
  result.conformance = result.cells.map(({ id }) => ({ cell: id, differences: [] }))
  const { generator, start } = simulate(world, result)
  const run = { ...silentRun(result), experiment, start, generator }
  await onClockOf(world, () => runHeats(run))
  const analysis = analyse(experiment, result)
  return { findings: findingsOf(analysis), result: { ...result, analysis } }
}

/** A run of which nobody is told. */
export function silentRun(result: Result): Omit<HeatsRun, 'experiment' | 'start' | 'generator'> {
  return {
    result,
    endsAt: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    progress: { begin: () => {}, update: () => {}, say: () => {}, stop: () => {} },
    warn: () => {},
    store: () => {},
  }
}

/** Whatever reads the clock meanwhile reads that of the world. */
export async function onClockOf<Value>(world: World, work: () => Promise<Value>): Promise<Value> {
  const real = performance.now
  performance.now = () => world.now * 1000
  try {
    return await work()
  } finally {
    performance.now = real
  }
}

/** Servers of the world, and a generator that loads them. */
export function simulate(world: World, { cells }: Pick<Result, 'cells'>) {
  let heat: HeatOfWorld | undefined
  let last: Outcome | undefined
  const cellAt = (target: Target) => cells[('port' in target ? target.port : 0) - 1]
  /** Offers as much as the cell can do. */
  const load = (target: Target, seconds: number, isWarmup = false): Outcome => {
    const cell = cellAt(target)
    last = cell && heat?.slice(`${cell.app} ${cell.topology}`, seconds, isWarmup)
    if (last === undefined) throw new Error('No server has been started.')
    return last
  }
  const servers: Servers = {
    running: new Map(
      cells.map((cell, index): [string, Server] => [
        cell.id,
        {
          target: { host: '127.0.0.1', port: 1 + index },
          whyEnded: async () => null,
          beginAccount: () => () => () => accountOf(cell, last),
        },
      ]),
    ),
    failures: new Map(),
    launches: async () => [],
    stop: async () => {},
  }
  const run = async ({ target, durationMs, onPhase }: LoadOptions) => {
    await onPhase?.('open')
    const { requests, seconds: lasted } = load(target, durationMs / 1000, durationMs === WARMUP_SLICE_MS)
    const counts = { requests, seconds: lasted, checked: 1, bytes: 0, errors: {}, handshakes: {} }
    return { ...counts, latency: { max: 0 } } as LoadResult
  }
  const generator: Generator = { pids: [], run }
  const start = async ([first]: readonly Cell[]) => {
    if (first === undefined) return servers
    heat = world.startHeat(first.role ?? 'hello')
    return servers
  }
  return { generator, start, load }
}

function accountOf({ topology }: Cell, outcome: Outcome | undefined): Account {
  const { cpuSeconds = 0, taken = 0 } = outcome ?? {}
  const proxy = topology === 'direct' ? 0 : 0.6 * cpuSeconds
  return {
    cpuSeconds: { app: cpuSeconds - proxy, proxy, generator: null },
    disturbance: { serverWait: taken, generatorWait: 0, serverForeign: taken, generatorForeign: 0 },
  }
}

function findingsOf({ cells, races }: ReturnType<typeof analyse>): Findings {
  return {
    ratios: races.flatMap(({ baseline, ratios, metric }) =>
      ratios.flatMap(({ cell, ratio: { low, high } }) =>
        cell === baseline ? [] : [{ a: cell, b: baseline, metric, low, high, p: null }],
      ),
    ),
    pairs: races.flatMap(({ race, topology, metric, pairs }) =>
      pairs.map(({ a, b, ratio: { low, high }, pAdjusted }) => ({
        race: `${race} ${topology} ${metric}`,
        a,
        b,
        metric,
        low,
        high,
        p: pAdjusted,
      })),
    ),
    twins: races.flatMap(({ control, metric }) => {
      if (control === null) return []
      const { twin, original, ratio, p } = control
      return [{ a: twin, b: original, metric, low: ratio.low, high: ratio.high, p }]
    }),
    voided: cells.flatMap((one) => (one.void === null ? [] : one.cell)),
  }
}
