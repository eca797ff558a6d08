import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LoadResult } from '@startgrid/loadgen'
import type { StartgridDriver } from '../drivers/startgrid.ts'
import { isTaken } from '../judge/gates/interference.ts'
import { type LoadSpec, trialOf } from '../judge/trial.ts'
import type { Cell, Trial } from '../model/result.ts'
import {
  asFailure,
  CellFailure,
  type Counted,
  type Entrant,
  failIfEnded,
  requestOf,
  type Track,
  untilItCounts,
} from './slice.ts'

/** Allowed to a response where nothing else is said. */
const TIMEOUT_MS = 10_000

interface TrialOptions {
  /** From 1: which start of the app. */
  launch: number
  /** Of arrivals: no two loads have the same ones. */
  seed: number
}

interface MeasuredTrial {
  /** What is stored. */
  trial: Trial
  /** The mean of the corrected latency, in milliseconds. */
  meanMs: number
}

/**
 * Offers one load to a cell, in open loop if it has a rate: requests are then due at random times, whatever became of those before.
 * @throws {CellFailure} if it cannot be offered, none counts, or a server is no longer there
 * @throws the signal's reason after an abort
 */
export function measureTrial(
  track: Track,
  entrant: Entrant<Cell, StartgridDriver>,
  spec: LoadSpec,
  options: TrialOptions,
): Promise<MeasuredTrial> {
  return untilItCounts(() => takeTrial(track, entrant, spec, options))
}

async function takeTrial(
  track: Track,
  entrant: Entrant<Cell, StartgridDriver>,
  spec: LoadSpec,
  { launch, seed }: TrialOptions,
): Promise<Counted<MeasuredTrial>> {
  const { cell, driver } = entrant
  const at = (performance.now() - track.beganAt) / 1000
  const endAccount = await track.servers.beginAccount(cell, driver)
  const load = await offer(track, entrant, spec, seed)
  const own = { cpuSeconds: load.cpu.seconds, waitSeconds: load.self.waitSeconds }
  const { cpuSeconds, disturbance, voidBecause } = (await endAccount())(own)
  if (voidBecause !== undefined) return { voidBecause }
  const frame = { cell: cell.id, launch, at, cpuSeconds, disturbance, disturbed: isTaken(disturbance) }
  return { value: { trial: trialOf(load, spec, frame), meanMs: load.latency.mean } }
}

async function offer(
  { servers, signal }: Track,
  { cell, workload, driver }: Entrant<Cell, StartgridDriver>,
  { rate, durationMs, connections, timeoutMs, seriesMs }: LoadSpec,
  seed: number,
): Promise<LoadResult> {
  const target = servers.target(cell)
  if (target === undefined) throw new CellFailure('it cannot be reached')
  const load = await driver
    .offer({
      target,
      ...requestOf(workload),
      connections: connections ?? cell.connections,
      durationMs,
      timeoutMs: timeoutMs ?? TIMEOUT_MS,
      seed,
      signal,
      ...(rate !== undefined && { rate }),
      ...(seriesMs !== undefined && { seriesMs }),
    })
    .catch(asFailure)
  // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
  await nextTurn()
  signal.throwIfAborted()
  await failIfEnded(servers, cell)
  if (load instanceof CellFailure) throw load
  return load
}
