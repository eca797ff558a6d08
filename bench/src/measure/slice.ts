import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { ERROR_KINDS, LoadError, type LoadPhase } from '@startgrid/loadgen'
import { type Disturbance, hasExactClock } from '@startgrid/machine/accounts/sample.ts'
import type { Driver, GeneratorAccounts, SliceLoad, SlicePlan } from '../drivers/driver.ts'
import type { Account, EndAccount, Servers } from '../environments/servers.ts'
import { isTaken } from '../judge/gates/interference.ts'
import type { Cell, Slice, SliceDetail } from '../model/result.ts'
import type { Workload } from '../model/workload.ts'
import { acceptedConnections } from './connections.ts'

/** An interpreted page with 64 connections takes a second per response on a fast machine, and a cold server with 10,000 takes longer. */
const TIMEOUT_MS = 20_000

/** What all loads of one heat have in common. */
export interface Track {
  servers: Servers
  signal: AbortSignal
  /** `performance.now()` at the beginning of the heat. */
  beganAt: number
  /** Whether slices say what only studies need. */
  details: boolean
}

/** One cell that is measured, with what is asked of it and what asks. */
export interface Entrant<Spec extends Cell = Cell, Kind extends Driver = Driver> {
  cell: Spec
  workload: Workload
  driver: Kind
}

/** Why a cell cannot go on; the message is a sentence without the full stop. */
export class CellFailure extends Error {
  override name = 'CellFailure'
}

/** How often a load is offered whose account says each time that it does not count. */
const TRIES = 4

/** What one load gave, unless its account says why it does not count. */
export type Counted<Value> = { value: Value } | { voidBecause: string }

/** Offers a load again, a few times, if it does not count. @throws {CellFailure} if none counts */
export async function untilItCounts<Value>(offer: () => Promise<Counted<Value>>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    const taken = await offer()
    if ('value' in taken) return taken.value
    if (tries === TRIES) throw new CellFailure(taken.voidBecause)
  }
}

/**
 * Offers load to one cell and takes what the kernel says of it before and after.
 * @returns undefined after an abort
 * @throws {CellFailure} if no load could be offered, none counts, or a server is no longer there
 */
export function measureSlice(
  track: Track,
  entrant: Entrant,
  kind: Pick<Slice, 'phase' | 'pass'> & { durationMs: number },
): Promise<Slice | undefined> {
  return untilItCounts(() => takeSlice(track, entrant, kind))
}

async function takeSlice(
  track: Track,
  { cell, workload, driver }: Entrant,
  { phase, durationMs, pass }: Pick<Slice, 'phase' | 'pass'> & { durationMs: number },
): Promise<Counted<Slice | undefined>> {
  const { servers, signal, beganAt, details } = track
  const target = servers.target(cell)
  if (target === undefined) throw new CellFailure('it cannot be reached')
  const plan = {
    target,
    ...requestOf(workload),
    connections: cell.connections,
    durationMs,
    timeoutMs: TIMEOUT_MS,
    signal,
    details,
  }
  await failIfEnded(servers, cell)
  const checked = await driver.check(plan).catch(asFailure)
  if (checked instanceof CellFailure) throw checked
  const at = (performance.now() - beganAt) / 1000
  const accounts = new SliceAccounts(servers, cell, driver, details)
  const load = await accounts.observe((onPhase) => driver.run({ ...plan, ...onPhase }).catch(asFailure))
  const account = await accounts.read(load instanceof CellFailure ? UNKNOWN : load.generator)
  // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
  await nextTurn()
  if (signal.aborted) return { value: undefined }
  await failIfEnded(servers, cell)
  if (load instanceof CellFailure) throw load
  const { cpuSeconds, disturbance, voidBecause } = account
  if (voidBecause !== undefined) return { voidBecause }
  const slice: Slice = {
    cell: cell.id,
    phase,
    at,
    seconds: load.seconds,
    requests: load.requests,
    checked: load.checked + checked.checked,
    errors: addErrors(checked.errors, load.errors),
    meanLatency: load.latencySeconds.mean,
    cpuSeconds,
    disturbance,
    disturbed: isTaken(hasExactClock() ? disturbance : withoutForeign(disturbance)),
    pass,
    ...(details && { detail: detailOf(load, accounts.otherConnections) }),
  }
  return { value: slice }
}

/** What a load sends, and what it holds responses to. */
export function requestOf({ expect, status = 200, isProven: _, ...asked }: Workload) {
  return { ...asked, expect: { status, body: expect, checkEvery: 100 } }
}

function detailOf(
  { latencySeconds: { p50, p975, p99 }, secondRates = [] }: SliceLoad,
  otherConnections: number | null,
): SliceDetail {
  return { latency: { p50, p975: p975 ?? null, p99 }, secondRates, otherConnections }
}

/** What a slice cost: from when all connections are open to the last response, where the driver says when that is. */
class SliceAccounts {
  readonly #servers: Servers
  readonly #cell: Cell
  readonly #driver: Driver
  readonly #counts: boolean
  #end: EndAccount | undefined
  #compare: Awaited<ReturnType<EndAccount>> | undefined
  #accepted: (number | undefined)[] = []

  /** @param counts whether it also counts connections */
  constructor(servers: Servers, cell: Cell, driver: Driver, counts: boolean) {
    this.#servers = servers
    this.#cell = cell
    this.#driver = driver
    this.#counts = counts
  }

  async observe<Load>(offer: (phases: Pick<SlicePlan, 'onPhase'>) => Promise<Load>): Promise<Load> {
    if (!this.#driver.capabilities.phases) await this.#phase('open')
    const load = await offer({ onPhase: (phase) => this.#phase(phase) })
    if (this.#compare === undefined) await this.#phase('responded')
    return load
  }

  async read(own: GeneratorAccounts): Promise<Account> {
    return this.#compare?.(own) ?? NO_ACCOUNT
  }

  /** Opened meanwhile on this machine, without those of a generator that opened its own meanwhile. */
  get otherConnections(): number | null {
    const [before, after] = this.#accepted
    const own = this.#driver.capabilities.phases ? 0 : this.#cell.connections
    return before === undefined || after === undefined ? null : Math.max(0, after - before - own)
  }

  async #phase(phase: LoadPhase): Promise<void> {
    if (this.#counts) this.#accepted.push(acceptedConnections())
    if (phase === 'open') this.#end = await this.#servers.beginAccount(this.#cell, this.#driver)
    else this.#compare = await this.#end?.()
  }
}

/** A clock that ticks every 10 ms says too little about a slice of 50 ms. */
function withoutForeign(disturbance: Disturbance): Disturbance {
  return { ...disturbance, serverForeign: null, generatorForeign: null }
}

/** Of a load that was not offered. */
const UNKNOWN: GeneratorAccounts = { cpuSeconds: null, waitSeconds: null }

const NO_ACCOUNT: Account = {
  cpuSeconds: { app: null, proxy: null, generator: null },
  disturbance: { serverWait: null, generatorWait: null, serverForeign: null, generatorForeign: null },
}

/** Of the check before the slice and of the slice itself, by kind. */
function addErrors(one: Slice['errors'], other: Slice['errors']): Slice['errors'] {
  const kinds = ERROR_KINDS.filter((kind) => one[kind] !== undefined || other[kind] !== undefined)
  return Object.fromEntries(kinds.map((kind) => [kind, (one[kind] ?? 0) + (other[kind] ?? 0)]))
}

export function asFailure(error: unknown): CellFailure {
  if (error instanceof LoadError) return new CellFailure(`no load could be offered: ${oneLine(error)}`)
  throw error
}

/**
 * Which server is no longer there says more than a thousand failed requests.
 * @throws {CellFailure} if one has ended
 */
export async function failIfEnded(servers: Servers, cell: Cell): Promise<void> {
  const reason = await servers.whyEnded(cell)
  if (reason !== null) throw new CellFailure(reason)
}
