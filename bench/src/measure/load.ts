import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError, type LoadOptions, type LoadPhase } from '@startgrid/loadgen/plan.ts'
import type { GeneratorTeam } from '@startgrid/loadgen/team.ts'
import { hasExactClock } from '@startgrid/machine/accounts.ts'
import { readText } from '@startgrid/machine/proc.ts'
import { isTaken } from '../judge/disturbance.ts'
import type { Workload } from '../result/experiment.ts'
import type { Slice, Trial } from '../result/heat.ts'
import type { Cell } from '../result/result.ts'
import type { Account, EndAccount, Server } from '../servers/servers.ts'

/** One stretch of load on one cell: a slice of a pass, or an open loop. Both are offered, accounted for and judged in the same way. */

/** Processes that stay warm between loads. */
export type Generator = Pick<GeneratorTeam, 'pids' | 'run'>

/** What all loads of one heat have in common. */
export interface Track {
  signal: AbortSignal
  /** `performance.now()` at the beginning of the heat. */
  beganAt: number
  generator: Generator
}

/** One cell that is measured, with what is asked of it. */
export interface Entrant {
  cell: Cell
  server: Server
  workload: Workload
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
  const { load, opened, ...stretch } = await offer(track, entrant, { durationMs, timeoutMs, seed })
  const { disturbance } = stretch
  const own = entrant.workload.newConnections === undefined ? 0 : load.requests
  const handshakes = Object.keys(load.handshakes)
  return {
    ...stretch,
    phase,
    pass,
    // A clock that ticks every 10 ms says too little about a slice of 50 ms.
    disturbed: isTaken(
      hasExactClock() ? disturbance : { ...disturbance, serverForeign: null, generatorForeign: null },
    ),
    detail: {
      otherConnections: opened && Math.max(0, opened - own),
      ...(load.requests > 0 && { bytes: load.bytes / load.requests }),
      ...(handshakes.length > 0 && { handshakes }),
    },
  }
}

/** Allowed to a response of an open loop. */
const TRIAL_TIMEOUT_MS = 10_000

/**
 * An open loop: requests are due at random times, whatever became of those before.
 * @param plan requests per second, for so many milliseconds; the seed of the arrivals is no other load's
 * @throws as `measureSlice`
 */
export async function measureTrial(
  track: Track,
  entrant: Entrant,
  plan: { rate: number; durationMs: number; seed: number },
): Promise<Trial> {
  const {
    load,
    opened: _,
    ...stretch
  } = await offer(track, entrant, { ...plan, timeoutMs: TRIAL_TIMEOUT_MS })
  const { requests, latency, lag, openLoop, histograms } = load
  return {
    ...stretch,
    disturbed: isTaken(stretch.disturbance),
    offered: openLoop?.offered ?? 0,
    achieved: openLoop?.achieved ?? load.rate,
    meanMs: requests > 0 ? latency.mean : null,
    lag: requests === 0 ? null : lag,
    histogram: histograms.latency,
    lagHistogram: histograms.lag,
    generatorBound: load.self.bound,
  }
}

/** Offers one load, and again if bodies differ only in what had not changed before. */
async function offer(track: Track, entrant: Entrant, plan: Parameters<typeof offerOnce>[2]) {
  const { workload, server } = entrant
  for (let again = MOST_AGAIN; ; again--) {
    const offered = await offerOnce(track, entrant, plan)
    if (!offered.errors.body || again === 0 || !(await workload.learnAgain?.(server.target))) return offered
  }
}

const MOST_AGAIN = 3

/** It takes what the kernel says from when all connections are open to the last response. */
async function offerOnce(
  { signal, beganAt, generator }: Track,
  { cell, server, workload }: Entrant,
  plan: Pick<LoadOptions, 'rate' | 'durationMs' | 'timeoutMs' | 'seed'>,
) {
  await failIfEnded(server)
  const accepted: (number | undefined)[] = []
  let end: EndAccount | undefined
  let accountOf: ReturnType<EndAccount> | undefined
  const onPhase = async (phase: LoadPhase) => {
    // With NGINX in front, each connection to the app is one.
    if (cell.topology !== 'direct') accepted.push(tcpCounter('PassiveOpens'))
    if (phase === 'open') end = server.beginAccount(generator.pids)
    else accountOf = end?.()
  }
  const at = (performance.now() - beganAt) / 1000
  const { connections } = cell
  const options = { target: server.target, connections, ...requestOf(workload), ...plan, signal, onPhase }
  const load = await generator.run(options).catch(asFailure)
  if (accountOf === undefined) await onPhase('responded')
  // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
  await nextTurn()
  signal.throwIfAborted()
  await failIfEnded(server)
  if (load instanceof CellFailure) throw load
  const { requests, seconds, checked, errors, latency } = load
  const [before, after] = accepted
  return {
    load,
    /** Connections that were opened meanwhile on this machine, after those of the load. */
    opened: before === undefined || after === undefined ? null : after - before,
    cell: cell.id,
    at,
    seconds,
    requests,
    checked,
    errors: Object.fromEntries(Object.entries(errors).filter(([, count]) => count > 0)),
    ...(requests > 0 && { longest: latency.max / 1000 }),
    // In a slice it polls: it never leaves its core by itself.
    ...(accountOf?.(plan.rate === undefined ? seconds : 0) ?? NO_ACCOUNT),
  }
}

/** What a load sends, and what it holds responses to. */
function requestOf({ expect, status = 200, isProven: _, learnAgain: __, mix, ...asked }: Workload) {
  if (mix === undefined) return { ...asked, expect: { status, body: expect, checkEvery: 100 } }
  const drawn = mix.flatMap((one) => Array.from({ length: one.weight }, () => one))
  return {
    ...asked,
    path: drawn.map(({ path }) => path),
    expect: { status, body: drawn.map((one) => one.expect), checkEvery: 100 },
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
 * What this machine's kernel counted so far: TCP connections that it accepted, or those that it dropped because an accept queue was full. Those of
 * other programs count as well.
 * @returns undefined where the system does not tell
 */
export function tcpCounter(
  name: 'PassiveOpens' | 'ListenOverflows',
  path = `/proc/net/${name === 'PassiveOpens' ? 'snmp' : 'netstat'}`,
): number | undefined {
  const [names, values] = readText(path)
    .split('\n')
    .filter((line) => /^Tcp(?:Ext)?:/.test(line))
    .map((line) => line.trim().split(' '))
  const value = values?.[names?.indexOf(name) ?? -1]
  return value === undefined ? undefined : Number(value)
}
