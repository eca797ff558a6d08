import { readOptions } from '../src/cli/options.ts'
import type { Driver, SlicePlan } from '../src/drivers/driver.ts'
import type { Account, Servers } from '../src/environments/servers.ts'
import { moreWarmupOf } from '../src/judge/analysis/cold-cells.ts'
import { analyse } from '../src/judge/analysis.ts'
import { runHeat } from '../src/measure/heat.ts'
import type { CellSpec, Heat } from '../src/model/result.ts'
import { planCells, planHeats, WARMUP_SLICE_MS } from '../src/plan/cells.ts'
import type { Findings, Run, RunOptions } from './score.ts'
import { type HeatOfWorld, type Outcome, ROLES, type Role, type World } from './world.ts'

/**
 * The benchmark itself, seen from outside: it plans cells and heats, measures servers that are simulated, and judges with all its gates. This is the only file that
 * knows it.
 */

/** Of the benchmark's own profile, only the number of heats and the time can be chosen. */
export async function measureByBenchmark(
  world: World,
  { heats, maxSeconds, seed }: Pick<RunOptions, 'heats' | 'maxSeconds' | 'seed'>,
): Promise<Run> {
  const options = { ...readOptions([]), seed, heats }
  const cells = planCells(options)
  const measured: Heat[] = []
  let done = 0
  /** Seconds of the last heat of each role: the next one will take as long. */
  const lasted = new Map<Role, number>()
  const settings = {
    profile: 'default',
    heats,
    slices: options.slices,
    sliceMs: options.sliceMs,
    pauseMs: 0,
    until: null,
    maxTimeMs: null,
    cores: { server: 0, generator: 1 },
    p99Ms: null,
  } as const
  const run = async (last: number, until: number) => {
    for (const planned of planHeats(ROLES, last, seed).filter(({ heat }) => heat > done)) {
      if (planned.heat > 2 && world.now + (lasted.get(planned.role) ?? 0) > until) break
      const began = world.now
      const own = cells.filter(({ role }) => role === planned.role)
      const heat = await onClockOf(world, () =>
        runHeat({
          planned,
          cells: own,
          settings,
          mode: 'native',
          ...simulate(world, own),
          moreWarmup: moreWarmupOf(
            cells,
            measured.filter(({ heat }) => heat < planned.heat),
          ),
          endsAt: Number.POSITIVE_INFINITY,
          signal: new AbortController().signal,
          onProgress: () => {},
        }),
      )
      measured.push(heat)
      lasted.set(planned.role, world.now - began)
    }
    done = last
  }
  await run(heats, maxSeconds)
  return {
    extend: (more) => run(done + more, Number.POSITIVE_INFINITY),
    findings: () =>
      findingsOf(
        analyse({
          mode: 'native',
          cells,
          heats: measured,
          conformance: cells.map(({ id }) => ({ cell: id, checked: 1, differences: [], remembered: false })),
          driver: { name: 'startgrid', version: '', ceiling: null },
          settings: { ...settings, heats: done },
        }),
      ),
  }
}

/** Whatever reads the clock meanwhile reads that of the world. */
async function onClockOf<Value>(world: World, work: () => Promise<Value>): Promise<Value> {
  const real = performance.now
  performance.now = () => world.now * 1000
  try {
    return await work()
  } finally {
    performance.now = real
  }
}

/**
 * Servers of the world, and a driver that loads them. Cold cells are those for which the planned warm-up is not enough.
 * @param more what a heat gives beyond that, in slices of warm-up by cell: only this makes cold cells warmer
 */
function simulate(world: World, cells: readonly CellSpec[], more: ReadonlyMap<string, number> = new Map()) {
  let heat: HeatOfWorld | undefined
  let last: Outcome | undefined
  const measured = new Set<string>()
  const ports = new Map(cells.map(({ id }, index) => [index + 1, id]))
  const servers: Servers = {
    target: (cell) => ({ host: '127.0.0.1', port: 1 + cells.findIndex(({ id }) => id === cell.id) }),
    whyMissing: () => 'it is missing',
    engine: () => null,
    whyEnded: async () => null,
    beginAccount: async (cell) => async () => () => accountOf(cell, last),
    launches: async () => [],
    stop: async () => {},
  }
  const run: Driver['run'] = async ({ target, durationMs }: SlicePlan) => {
    const id = ports.get('port' in target ? target.port : 0) ?? ''
    const seconds = durationMs / 1000
    const isWarmup = durationMs === WARMUP_SLICE_MS
    if (!isWarmup && !measured.has(id)) heat?.warm(id, ((more.get(id) ?? 0) * WARMUP_SLICE_MS) / 1000)
    if (!isWarmup) measured.add(id)
    last = heat?.slice(id, seconds, isWarmup)
    if (last === undefined) throw new Error('No server has been started.')
    const { requests, seconds: lasted } = last
    const mean = ((cells.find((cell) => cell.id === id)?.connections ?? 0) * lasted) / requests
    return {
      requests,
      seconds: lasted,
      rate: requests / lasted,
      checked: 1,
      errors: {},
      latencySeconds: { mean, p50: mean, p99: mean },
      generator: { cpuSeconds: null, waitSeconds: null },
    }
  }
  const driver: Driver = {
    name: 'startgrid',
    version: '',
    capabilities: { openLoop: true, unixSockets: true, checks: 'inside', minSliceMs: 1, warmupMs: 0 },
    pids: () => [],
    check: async () => ({ checked: 0, errors: {} }),
    answerLength: async () => 1,
    run,
    stop: async () => {},
  }
  const startServers = async () => {
    const [first] = cells
    if (first !== undefined) heat = world.startHeat(first.role)
    return servers
  }
  return { driver, environment: { startServers } }
}

function accountOf({ topology }: CellSpec, outcome: Outcome | undefined): Account {
  const { cpuSeconds = 0, taken = 0 } = outcome ?? {}
  const proxy = topology === 'direct' ? 0 : 0.6 * cpuSeconds
  return {
    cpuSeconds: { app: cpuSeconds - proxy, proxy, generator: null },
    disturbance: { serverWait: taken, generatorWait: 0, serverForeign: taken, generatorForeign: 0 },
  }
}

function findingsOf({ cells, races }: ReturnType<typeof analyse>): Findings {
  const isCold = ({ gates }: (typeof cells)[number]) =>
    gates.some(
      ({ gate, verdict, finding }) =>
        gate === 'warmup' && (verdict === 'failed' || finding.includes('do not count')),
    )
  return {
    ratios: races.flatMap(({ baseline, ratios, metric }) =>
      ratios.flatMap(({ cell, ratio: { low, high } }) =>
        cell === baseline ? [] : [{ a: cell, b: baseline, metric, low, high, p: null }],
      ),
    ),
    pairs: races.flatMap(({ role, topology, metric, pairs }) =>
      pairs.map(({ a, b, ratio: { low, high }, pAdjusted }) => ({
        race: `${role} ${topology} ${metric}`,
        ...{ a, b, metric, low, high, p: pAdjusted },
      })),
    ),
    twins: races.flatMap(({ control, metric }) => {
      if (control === null) return []
      const { twin, original, ratio, p } = control
      return [{ a: twin, b: original, metric, low: ratio.low, high: ratio.high, p }]
    }),
    voided: cells.filter(({ voided }) => voided).map(({ cell }) => cell),
    cold: cells.filter(isCold).map(({ cell }) => cell),
  }
}
