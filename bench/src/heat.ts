import type { Launch } from '@startgrid/grid/launcher.ts'
import { type Lineup, startLineup } from '@startgrid/grid/lineup.ts'
import type { Role } from '@startgrid/grid/matrix.ts'
import { ERROR_KINDS, type LoadGenerator, type LoadResult, sumErrors } from '@startgrid/loadgen'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Cell } from './cell.ts'
import { type Random, shuffle } from './random.ts'
import type { Round } from './results.ts'
import type { Measured } from './summary.ts'
import { cpuSeconds, peakMemory, processTree } from './usage.ts'
import { WORKLOADS, type Workload } from './workload.ts'

export interface HeatOptions {
  role: Role
  round: number
  measured: readonly Measured[]
  nginx: Nginx | undefined
  generator: LoadGenerator
  /** The core of the servers. */
  cpu: number | undefined
  connections: number
  durationMs: number
  warmupMs: number
  random: Random
  signal: AbortSignal
  /** Told how much of the heat is over, 0 to 1. */
  onProgress(done: number): void
}

/** A Node launch is warm after 1.0 to 1.25 s; the path through NGINX only adds NGINX, which has nothing to compile. */
const PROXIED_WARMUP = 0.25

/**
 * One heat: the apps of a role start together, are warmed and measured one after the other in shuffled order, and stop. What
 * goes wrong with one cell is noted in its `Measured`; the others go on.
 */
export async function runHeat(options: HeatOptions): Promise<void> {
  const { measured, random, signal } = options
  const apps = [...new Set(measured.map(({ cell }) => cell.app))]
  const topologies = [...new Set(measured.map(({ cell }) => cell.topology))]
  const lineup = await startLineup({ apps, topologies, nginx: options.nginx, cpu: options.cpu })
  try {
    const running = measured.filter((one) => isReachable(one, lineup))
    const workload = await learnLength(WORKLOADS[options.role], running, lineup)
    const steps = running.length * 2
    let done = 0
    for (const one of shuffle(running, random)) {
      if (signal.aborted) return
      await warm(one.cell, workload, lineup, options)
      options.onProgress(++done / steps)
    }
    for (const one of shuffle(running, random)) {
      if (signal.aborted) return
      await measure(one, workload, lineup, options)
      options.onProgress(++done / steps)
    }
  } finally {
    await lineup.stop()
  }
}

function isReachable(one: Measured, lineup: Lineup): boolean {
  const { app, topology } = one.cell
  if (lineup.target(app, topology) !== undefined) {
    one.engine ??= engineOf(lineup.launched(app, topology))
    return true
  }
  one.voidedBecause ??= lineup.failures.get(app.name) ?? 'there is no NGINX'
  return false
}

function engineOf(launched: Launch | undefined): string | undefined {
  const { engine, nginx } = launched?.ready ?? {}
  return engine === undefined ? undefined : `${engine} in NGINX ${nginx}`
}

/**
 * An answer whose content differs each time still has one length, and it is the same for every app: equal work. The first app
 * sets it; whoever answers otherwise has its number voided by the load itself.
 */
async function learnLength(
  workload: Workload,
  running: readonly Measured[],
  lineup: Lineup,
): Promise<Workload> {
  const target = running
    .map(({ cell }) => lineup.target(cell.app, 'direct'))
    .find((found) => found !== undefined)
  if (target === undefined || !('port' in target) || workload.expect.bytes !== undefined) return workload
  const response = await fetch(`http://${target.host}:${target.port}${workload.path}`)
  const { byteLength: length } = await response.arrayBuffer()
  return { ...workload, expect: { ...workload.expect, length } }
}

async function warm(cell: Cell, workload: Workload, lineup: Lineup, options: HeatOptions): Promise<void> {
  const part = cell.topology === 'direct' ? 1 : PROXIED_WARMUP
  await offer(cell, workload, lineup, options, options.warmupMs * part)
}

async function measure(
  one: Measured,
  workload: Workload,
  lineup: Lineup,
  options: HeatOptions,
): Promise<void> {
  const { app, topology } = one.cell
  const launched = lineup.launched(app, topology)
  const appPids = launched ? processTree(launched.ready.pid) : []
  const proxyPids = topology === 'direct' ? [] : lineup.proxyPids()
  const before = { app: cpuSeconds(appPids), proxy: cpuSeconds(proxyPids) }
  const load = await offer(one.cell, workload, lineup, options, options.durationMs)
  if (load === undefined) return
  const after = { app: cpuSeconds(appPids), proxy: cpuSeconds(proxyPids) }
  note(one, load, {
    round: options.round,
    rate: load.rate,
    requests: load.requests,
    seconds: load.seconds,
    checked: load.checked,
    latency: load.latency,
    cpuSeconds: {
      app: difference(after.app, before.app),
      proxy: difference(after.proxy, before.proxy),
      generator: load.cpu.seconds,
    },
    peakMemory: { app: peakMemory(appPids) ?? null, proxy: peakMemory(proxyPids) ?? null },
  })
}

/** @returns undefined if it was interrupted */
async function offer(
  { app, topology }: Cell,
  workload: Workload,
  lineup: Lineup,
  { generator, connections, signal }: HeatOptions,
  durationMs: number,
): Promise<LoadResult | undefined> {
  const target = lineup.target(app, topology)
  if (target === undefined) return undefined
  const expect = { status: 200, body: workload.expect, checkEvery: 100 }
  const load = await generator.run({ target, path: workload.path, connections, durationMs, expect, signal })
  return signal.aborted ? undefined : load
}

function note(one: Measured, load: LoadResult, round: Round): void {
  for (const kind of ERROR_KINDS) one.errors[kind] += load.errors[kind]
  const errors = sumErrors(load.errors)
  if (errors > 0) {
    const kinds = ERROR_KINDS.filter((kind) => load.errors[kind] > 0).map(
      (kind) => `${load.errors[kind]} ${kind}`,
    )
    one.voidedBecause ??= `${errors} of ${load.requests + errors} requests failed in round ${round.round} (${kinds.join(', ')})`
  }
  if (load.requests === 0) one.voidedBecause ??= `no request was answered in round ${round.round}`
  else one.rounds.push(round)
}

function difference(after: number | undefined, before: number | undefined): number | null {
  return after === undefined || before === undefined ? null : after - before
}
