import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Launch } from '@startgrid/grid/launcher.ts'
import { type Lineup, startLineup } from '@startgrid/grid/lineup.ts'
import type { Role } from '@startgrid/grid/matrix.ts'
import { ERROR_KINDS, LoadError, type LoadResult, sumErrors } from '@startgrid/loadgen'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Cell } from './cell.ts'
import { pin } from './cores.ts'
import type { Driver } from './driver.ts'
import { type Random, shuffle } from './random.ts'
import type { Round } from './results.ts'
import type { Measured } from './summary.ts'
import { oneLine } from './text.ts'
import { cpuSeconds, peakMemory, serverPids } from './usage.ts'
import { learnLength, WORKLOADS, type Workload } from './workload.ts'

export interface HeatOptions extends Timing {
  role: Role
  round: number
  measured: readonly Measured[]
  nginx: Nginx | undefined
  driver: Driver
  /** The core of the servers. */
  cpu: number | undefined
  connections: number
  random: Random
  signal: AbortSignal
  /** Told how much of the heat is over, 0 to 1. */
  onProgress(done: number): void
}

/** Milliseconds per cell. */
export interface Timing {
  durationMs: number
  warmupMs: number
}

/** A Node launch is warm after 1.0 to 1.25 s; the path through NGINX only adds NGINX, which has nothing to compile. */
const PROXIED_WARMUP = 0.25

/** An interpreted page with 64 connections takes a second per answer on a fast machine. */
const TIMEOUT_MS = 10_000

interface Heat extends HeatOptions {
  lineup: Lineup
  workload: Workload
}

/**
 * One heat: the apps of a role start together, are warmed and measured one after the other in shuffled order, and stop. What
 * goes wrong with one cell is noted in its `Measured`; the others go on. After an abort nothing is noted any more.
 */
export async function runHeat(options: HeatOptions): Promise<void> {
  const lineup = await startServers(options)
  if (lineup === undefined) return
  try {
    if (!options.signal.aborted) await runCells(options, lineup)
  } finally {
    await lineup.stop()
  }
}

/** What a heat takes, in milliseconds, if nothing disturbs it: starting and stopping, then its cells. */
export function expectedMs(cells: readonly Cell[], timing: Timing): number {
  const apps = new Set(cells.map(({ app }) => app)).size
  return cells.reduce((sum, cell) => sum + warmupOf(cell, timing) + timing.durationMs, 1000 + 300 * apps)
}

function warmupOf({ topology }: Cell, { warmupMs }: Timing): number {
  return topology === 'direct' ? warmupMs : warmupMs * PROXIED_WARMUP
}

/** Without NGINX, if that does not start, there are still the cells that need none. */
async function startServers(options: HeatOptions): Promise<Lineup | undefined> {
  const proxied = options.measured.filter(({ cell }) => cell.topology !== 'direct')
  const direct = options.measured.filter(({ cell }) => cell.topology === 'direct')
  try {
    return await startCells(options.measured, options)
  } catch (error) {
    if (options.signal.aborted) return undefined
    voidAll(proxied.length > 0 ? proxied : direct, `the servers did not start: ${oneLine(error)}`)
  }
  return proxied.length > 0 && direct.length > 0 ? startServers({ ...options, measured: direct }) : undefined
}

function startCells(measured: readonly Measured[], { nginx, cpu }: HeatOptions): Promise<Lineup> {
  const apps = [...new Set(measured.map(({ cell }) => cell.app))]
  const topologies = [...new Set(measured.map(({ cell }) => cell.topology))]
  return startLineup({ apps, topologies, nginx, cpu })
}

function voidAll(measured: readonly Measured[], reason: string): void {
  for (const one of measured) one.voidedBecause ??= reason
}

async function runCells(options: HeatOptions, lineup: Lineup): Promise<void> {
  const { measured, random, signal, cpu, role } = options
  const running = measured.filter((one) => isReachable(one, lineup))
  const [first] = running
  const target = first && lineup.launched(first.cell.app, first.cell.topology)?.target
  if (first === undefined || target === undefined) return
  if (cpu !== undefined) pinContainers(running, lineup, cpu)
  const workload = await learnLength(WORKLOADS[role], target)
  const heat = { ...options, lineup, workload }
  const total = expectedMs(
    running.map(({ cell }) => cell),
    options,
  )
  let spent = total
  for (const { cell } of running) spent -= warmupOf(cell, options) + options.durationMs
  const advance = (milliseconds: number) => {
    spent += milliseconds
    options.onProgress(spent / total)
  }
  for (const one of shuffle(running, random)) {
    if (signal.aborted) return
    await offer(heat, one, warmupOf(one.cell, options))
    advance(warmupOf(one.cell, options))
  }
  for (const one of shuffle(running, random)) {
    if (signal.aborted) return
    await measure(heat, one)
    advance(options.durationMs)
  }
}

function isReachable(one: Measured, lineup: Lineup): boolean {
  const { app, topology } = one.cell
  if (lineup.target(app, topology) !== undefined) {
    one.engine ??= engineOf(lineup.launched(app, topology))
    return true
  }
  const failure = lineup.failures.get(app.name)?.replace(`${app.name} `, 'the app ')
  one.voidedBecause ??= oneLine(failure ?? 'there is no NGINX')
  return false
}

function engineOf(launched: Launch | undefined): string | undefined {
  const { engine, nginx } = launched?.ready ?? {}
  return engine === undefined ? undefined : `${engine} in NGINX ${nginx}`
}

/** A container does not inherit the core of whoever asked for it. */
function pinContainers(running: readonly Measured[], lineup: Lineup, cpu: number): void {
  const inNginx = running
    .map(({ cell }) => lineup.launched(cell.app, cell.topology))
    .filter((launched) => launched?.ready.nginx !== undefined)
  for (const launched of new Set(inNginx)) if (launched) pin(serverPids(launched) ?? [], cpu)
}

async function measure(heat: Heat, one: Measured): Promise<void> {
  const { lineup, round, durationMs } = heat
  const { app, topology } = one.cell
  const launched = lineup.launched(app, topology)
  const appPids = launched && serverPids(launched)
  const proxyPids = topology === 'direct' ? [] : lineup.proxyPids()
  const before = { app: cpuSeconds(appPids), proxy: cpuSeconds(proxyPids) }
  const load = await offer(heat, one, durationMs)
  if (load === undefined) return
  const after = { app: cpuSeconds(appPids), proxy: cpuSeconds(proxyPids) }
  note(one, load, {
    round,
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

/** @returns undefined if there is nothing to note: it was interrupted, or the cell is void, and says why */
async function offer(heat: Heat, one: Measured, durationMs: number): Promise<LoadResult | undefined> {
  const { lineup, workload, driver, connections, signal, round } = heat
  const target = lineup.target(one.cell.app, one.cell.topology)
  if (target === undefined || one.voidedBecause !== undefined) return undefined
  const expect = { status: 200, body: workload.expect, checkEvery: 100 }
  const plan = { target, path: workload.path, connections, durationMs, timeoutMs: TIMEOUT_MS, expect, signal }
  try {
    const load = await driver.run(plan)
    // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
    await nextTurn()
    if (signal.aborted) return undefined
    one.voidedBecause ??= whoEnded(heat, one.cell)
    return load
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    if (!signal.aborted) one.voidedBecause ??= `no load could be offered in round ${round}: ${oneLine(error)}`
    return undefined
  }
}

/** Which server is no longer there; that says more than a thousand failed requests. */
function whoEnded({ lineup, round }: Heat, { app, topology }: Cell): string | undefined {
  const { exitCode = null, signalCode = null } = lineup.launched(app, topology)?.child ?? {}
  if (exitCode !== null) return `the app ended with exit code ${exitCode} in round ${round}`
  if (signalCode !== null) return `the app was ended by ${signalCode} in round ${round}`
  if (topology !== 'direct' && lineup.proxyPids().length === 0) return `NGINX ended in round ${round}`
  return undefined
}

function note(one: Measured, load: LoadResult, round: Round): void {
  for (const kind of ERROR_KINDS) one.errors[kind] += load.errors[kind]
  one.voidedBecause ??= whyVoid(load, round.round)
  if (load.requests > 0) one.rounds.push(round)
}

/** Why a load proves nothing about its cell; undefined if it is sound. */
export function whyVoid(
  { requests, errors, checked }: Pick<LoadResult, 'requests' | 'errors' | 'checked'>,
  round: number,
): string | undefined {
  const failed = sumErrors(errors)
  if (failed > 0) {
    const kinds = ERROR_KINDS.filter((kind) => errors[kind] > 0).map((kind) => `${errors[kind]} ${kind}`)
    return `${failed} of ${requests + failed} requests failed in round ${round} (${kinds.join(', ')})`
  }
  if (requests === 0) return `no request was answered in round ${round}`
  if (checked === 0) return `no answer was checked in round ${round}`
  return undefined
}

function difference(after: number | undefined, before: number | undefined): number | null {
  return after === undefined || before === undefined ? null : after - before
}
