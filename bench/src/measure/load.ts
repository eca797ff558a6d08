import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError, type LoadOptions, type LoadPhase } from '@startgrid/loadgen/plan.ts'
import { hasExactClock } from '@startgrid/machine/accounts.ts'
import { isTaken } from '../judge/disturbance.ts'
import { trialOf } from '../judge/trial.ts'
import type { LastingGenerator, SliceLoad } from '../load/generator.ts'
import type { Cell } from '../result/cell.ts'
import type { Workload } from '../result/experiment.ts'
import type { Slice, SliceDetail, Trial } from '../result/heat.ts'
import type { Account, EndAccount, Server } from '../servers/servers.ts'

/** One stretch of load on one cell: a slice of a pass, or an open loop. Both are offered, accounted for and judged in the same way. */

/** What all loads of one heat have in common. */
export interface Track {
  signal: AbortSignal
  /** `performance.now()` at the beginning of the heat. */
  beganAt: number
}

/** One cell that is measured, with what is asked of it and what asks. */
export interface Entrant {
  cell: Cell
  server: Server
  workload: Workload
  generator: LastingGenerator
}

/** Why a cell cannot go on; the message is a sentence without the full stop. */
export class CellFailure extends Error {
  override name = 'CellFailure'
}

/** Which slice it is, and how it is loaded. */
export interface SliceSpec extends Pick<Slice, 'phase' | 'pass'> {
  durationMs: number
  /** Allowed to a response; default 20 s. */
  timeoutMs?: number
  /** Of random arrivals and paths. With one seed for all slices, each slice of a slow server would ask for the same few paths. */
  seed: number
}

/** An interpreted page with 64 connections takes a second per response on a fast machine, and a cold server with 10,000 takes longer. */
const SLICE_TIMEOUT_MS = 20_000

/**
 * @throws {CellFailure} if no load could be offered, none counts, or a server is no longer there
 * @throws the signal's reason after an abort
 */
export async function measureSlice(
  track: Track,
  entrant: Entrant,
  { phase, durationMs, pass, seed, timeoutMs = SLICE_TIMEOUT_MS }: SliceSpec,
): Promise<Slice> {
  const { generator, workload } = entrant
  const { connections } = entrant.cell
  const plan = { connections, durationMs, timeoutMs, seed }
  const { load, otherConnections, ...frame } = await measure(
    track,
    entrant,
    (destination, onPhase) => onPhase((phases) => generator.run({ ...destination, ...plan, ...phases })),
    // It polls: it never leaves its core by itself.
    ({ seconds }) => seconds,
  )
  const { disturbance } = frame
  return {
    ...frame,
    phase,
    seconds: load.seconds,
    requests: load.requests,
    checked: load.checked,
    errors: load.errors,
    // A clock that ticks every 10 ms says too little about a slice of 50 ms.
    disturbed: isTaken(
      hasExactClock() ? disturbance : { ...disturbance, serverForeign: null, generatorForeign: null },
    ),
    pass,
    ...(load.longest !== undefined && { longest: load.longest }),
    detail: detailOf(load, othersThan(load, workload, otherConnections)),
  }
}

/** Allowed to a response of an open loop. */
const TRIAL_TIMEOUT_MS = 10_000

/**
 * An open loop: requests are due at random times, whatever became of those before.
 * @param load requests per second, for so many milliseconds; the seed of the arrivals is no other load's
 * @throws as `measureSlice`
 */
export async function measureTrial(
  track: Track,
  entrant: Entrant,
  load: { rate: number; durationMs: number; seed: number },
): Promise<Trial> {
  const plan = { ...load, connections: entrant.cell.connections, timeoutMs: TRIAL_TIMEOUT_MS }
  const {
    load: result,
    otherConnections: _,
    ...frame
  } = await measure(track, entrant, (destination, onPhase) =>
    onPhase((phases) => entrant.generator.offer({ ...destination, ...plan, ...phases })),
  )
  return trialOf(result, { ...frame, disturbed: isTaken(frame.disturbance) })
}

/** Where a load goes, and what is expected there. */
type Destination = Pick<LoadOptions, 'target' | 'signal'> & ReturnType<typeof requestOf>

type OnPhase = <Load>(offer: (phases: Pick<LoadOptions, 'onPhase'>) => Promise<Load>) => Promise<Load>

interface Measured<Load> extends Account {
  cell: string
  at: number
  load: Load
  /** Opened meanwhile on this machine, after those of the generator. */
  otherConnections: number | null
}

/**
 * Offers one load, and takes what the kernel says of it before and after.
 * @param pollingOf as of `compareSamples`
 */
async function measure<Load extends object>(
  { signal, beganAt }: Track,
  { cell, server, workload, generator }: Entrant,
  offer: (destination: Destination, onPhase: OnPhase) => Promise<Load>,
  pollingOf: (load: Load) => number = () => 0,
): Promise<Measured<Load>> {
  const destination = { target: server.target, ...requestOf(workload), signal }
  await failIfEnded(server)
  const accounts = new LoadAccounts({ server, generator }, cell.topology !== 'direct')
  const load = await offer(destination, (one) => accounts.observe(one)).catch(asFailure)
  // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
  await nextTurn()
  signal.throwIfAborted()
  await failIfEnded(server)
  if (load instanceof CellFailure) throw load
  return {
    cell: cell.id,
    at: (accounts.beganAt - beganAt) / 1000,
    load,
    otherConnections: accounts.otherConnections,
    ...accounts.read(pollingOf(load)),
  }
}

/** What a load sends, and what it holds responses to. */
function requestOf({ expect, status = 200, isProven: _, mix, ...asked }: Workload) {
  if (mix === undefined) return { ...asked, expect: { status, body: expect, checkEvery: 100 } }
  const drawn = mix.flatMap((one) => Array.from({ length: one.weight }, () => one))
  return {
    ...asked,
    path: drawn.map(({ path }) => path),
    expect: { status, body: drawn.map((one) => one.expect), checkEvery: 100 },
  }
}

/** Without those that the generator opened for its requests. */
function othersThan(
  { requests }: SliceLoad,
  { newConnections }: Workload,
  opened: number | null,
): number | null {
  return newConnections === undefined || opened === null ? opened : Math.max(0, opened - requests)
}

function detailOf({ bytes, handshakes }: SliceLoad, otherConnections: number | null): SliceDetail {
  return {
    otherConnections,
    ...(bytes !== undefined && { bytes }),
    ...(Object.keys(handshakes).length > 0 && { handshakes: Object.keys(handshakes) }),
  }
}

/** What a load cost: from when all connections are open to the last response. */
class LoadAccounts {
  readonly #entrant: Pick<Entrant, 'server' | 'generator'>
  readonly #counts: boolean
  /** `performance.now()` */
  beganAt = 0
  #end: EndAccount | undefined
  #compare: Awaited<ReturnType<EndAccount>> | undefined
  #accepted: (number | undefined)[] = []

  /** @param counts whether it also counts connections */
  constructor(entrant: Pick<Entrant, 'server' | 'generator'>, counts: boolean) {
    this.#entrant = entrant
    this.#counts = counts
  }

  async observe<Load>(offer: (phases: Pick<LoadOptions, 'onPhase'>) => Promise<Load>): Promise<Load> {
    this.beganAt = performance.now()
    try {
      return await offer({ onPhase: (phase) => this.#phase(phase) })
    } finally {
      if (this.#compare === undefined) await this.#phase('responded')
    }
  }

  read(pollingSeconds: number): Account {
    return this.#compare?.(pollingSeconds) ?? NO_ACCOUNT
  }

  get otherConnections(): number | null {
    const [before, after] = this.#accepted
    return before === undefined || after === undefined ? null : after - before
  }

  async #phase(phase: LoadPhase): Promise<void> {
    if (this.#counts) this.#accepted.push(tcpCounter('PassiveOpens'))
    if (phase === 'open') this.#end = await this.#entrant.server.beginAccount(this.#entrant.generator)
    else this.#compare = await this.#end?.()
  }
}

const NO_ACCOUNT: Account = {
  cpuSeconds: { app: null, proxy: null, generator: null },
  disturbance: { serverWait: null, generatorWait: null, serverForeign: null, generatorForeign: null },
}

function asFailure(error: unknown): CellFailure {
  if (error instanceof LoadError) return new CellFailure(`no load could be offered: ${oneLine(error)}`)
  throw error
}

/**
 * Which server is no longer there says more than a thousand failed requests.
 * @throws {CellFailure} if one has ended
 */
async function failIfEnded(server: Server): Promise<void> {
  const reason = await server.whyEnded()
  if (reason !== null) throw new CellFailure(reason)
}

/**
 * What this machine's kernel counted so far: TCP connections that it accepted (with NGINX in front, each connection to the app is one), or those that it
 * dropped because an accept queue was full. Those of other programs count as well.
 * @returns undefined where the system does not tell
 */
export function tcpCounter(
  name: 'PassiveOpens' | 'ListenOverflows',
  path = `/proc/net/${name === 'PassiveOpens' ? 'snmp' : 'netstat'}`,
): number | undefined {
  try {
    const [names, values] = readFileSync(path, 'latin1')
      .split('\n')
      .filter((line) => /^Tcp(?:Ext)?:/.test(line))
      .map((line) => line.trim().split(' '))
    const value = values?.[names?.indexOf(name) ?? -1]
    return value === undefined ? undefined : Number(value)
  } catch {
    return undefined
  }
}
