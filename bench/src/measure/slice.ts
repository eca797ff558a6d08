import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { ERROR_KINDS, LoadError, type LoadPhase } from '@startgrid/loadgen'
import { type Disturbance, hasExactClock } from '@startgrid/machine/accounts/sample.ts'
import type { Driver, GeneratorAccounts, SlicePlan } from '../drivers/driver.ts'
import type { Account, EndAccount, Servers } from '../environments/servers.ts'
import { isTaken } from '../judge/gates/interference.ts'
import type { CellSpec, Slice } from '../model/result.ts'
import type { Workload } from '../model/workload.ts'

/** An interpreted page with 64 connections takes a second per answer on a fast machine. */
const TIMEOUT_MS = 10_000

/** Of a load that was not offered. */
const UNKNOWN: GeneratorAccounts = { cpuSeconds: null, waitSeconds: null }

/** What slices of one heat have in common. */
export interface Track {
  servers: Servers
  workload: Workload
  driver: Driver
  signal: AbortSignal
  /** `performance.now()` at the beginning of the heat. */
  beganAt: number
}

/** Why a cell cannot go on; the message is a sentence without the full stop. */
export class CellFailure extends Error {
  override name = 'CellFailure'
}

/**
 * Offers load to one cell and takes what the kernel says of it before and after.
 * @returns undefined after an abort
 * @throws {CellFailure} if no load could be offered, or a server is no longer there
 */
export async function measureSlice(
  track: Track,
  cell: CellSpec,
  { phase, durationMs, pass }: { phase: Slice['phase']; durationMs: number; pass: number | null },
): Promise<Slice | undefined> {
  const { servers, workload, driver, signal, beganAt } = track
  const target = servers.target(cell)
  if (target === undefined) throw new CellFailure('it cannot be reached')
  const expect = { status: 200, body: workload.expect, checkEvery: 100 }
  const plan = {
    target,
    path: workload.path,
    connections: cell.connections,
    durationMs,
    timeoutMs: TIMEOUT_MS,
    expect,
    signal,
  }
  await failIfEnded(servers, cell)
  const checked = await driver.check(plan).catch(asFailure)
  if (checked instanceof CellFailure) throw checked
  const at = (performance.now() - beganAt) / 1000
  const accounts = new SliceAccounts(servers, cell, driver)
  const load = await accounts.observe((onPhase) => driver.run({ ...plan, ...onPhase }).catch(asFailure))
  const account = await accounts.read(load instanceof CellFailure ? UNKNOWN : load.generator)
  // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
  await nextTurn()
  if (signal.aborted) return undefined
  await failIfEnded(servers, cell)
  if (load instanceof CellFailure) throw load
  const { cpuSeconds, disturbance } = account
  return {
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
  }
}

/** What a slice cost: from when all connections are open to the last response, where the driver says when that is. */
class SliceAccounts {
  readonly #servers: Servers
  readonly #cell: CellSpec
  readonly #driver: Driver
  #end: EndAccount | undefined
  #compare: Awaited<ReturnType<EndAccount>> | undefined

  constructor(servers: Servers, cell: CellSpec, driver: Driver) {
    this.#servers = servers
    this.#cell = cell
    this.#driver = driver
  }

  async observe<Load>(offer: (phases: Pick<SlicePlan, 'onPhase'>) => Promise<Load>): Promise<Load> {
    if (!this.#driver.capabilities.phases) await this.#phase('open')
    const load = await offer({ onPhase: (phase) => this.#phase(phase) })
    if (this.#compare === undefined) await this.#phase('answered')
    return load
  }

  async read(own: GeneratorAccounts): Promise<Account> {
    return this.#compare?.(own) ?? NO_ACCOUNT
  }

  async #phase(phase: LoadPhase): Promise<void> {
    if (phase === 'open') this.#end = await this.#servers.beginAccount(this.#cell, this.#driver)
    else this.#compare = await this.#end?.()
  }
}

/** A clock that ticks every 10 ms says too little about a slice of 50 ms. */
function withoutForeign(disturbance: Disturbance): Disturbance {
  return { ...disturbance, serverForeign: null, generatorForeign: null }
}

/** Of a load that was never offered. */
const NO_ACCOUNT: Account = {
  cpuSeconds: { app: null, proxy: null, generator: null },
  disturbance: { serverWait: null, generatorWait: null, serverForeign: null, generatorForeign: null },
}

/** Of the check before the slice and of the slice itself, by kind. */
export function addErrors(one: Slice['errors'], other: Slice['errors']): Slice['errors'] {
  const kinds = ERROR_KINDS.filter((kind) => one[kind] !== undefined || other[kind] !== undefined)
  return Object.fromEntries(kinds.map((kind) => [kind, (one[kind] ?? 0) + (other[kind] ?? 0)]))
}

function asFailure(error: unknown): CellFailure {
  if (error instanceof LoadError) return new CellFailure(`no load could be offered: ${oneLine(error)}`)
  throw error
}

/**
 * Which server is no longer there says more than a thousand failed requests.
 * @throws {CellFailure} if one has ended
 */
export async function failIfEnded(servers: Servers, cell: CellSpec): Promise<void> {
  const reason = await servers.whyEnded(cell)
  if (reason !== null) throw new CellFailure(reason)
}
