import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Lineup } from '@startgrid/grid/lineup.ts'
import { LoadError } from '@startgrid/loadgen'
import { type Cores, compareSamples, takeSample } from './accounting/sample.ts'
import type { Driver } from './drivers/driver.ts'
import { isDisturbed } from './gates/ours.ts'
import { appOf } from './plan.ts'
import type { CellSpec, Slice } from './results.ts'
import { oneLine } from './text.ts'
import { serverPids } from './usage.ts'
import type { Workload } from './workload.ts'

/** An interpreted page with 64 connections takes a second per answer on a fast machine. */
const TIMEOUT_MS = 10_000

/** What slices of one heat have in common. */
export interface Track {
  lineup: Lineup
  workload: Workload
  driver: Driver
  cores: Cores | null
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
  { phase, durationMs, repeat }: { phase: Slice['phase']; durationMs: number; repeat: boolean },
): Promise<Slice | undefined> {
  const { lineup, workload, driver, cores, signal, beganAt } = track
  const app = appOf(cell)
  const target = lineup.target(app, cell.topology)
  const launched = lineup.launched(app, cell.topology)
  if (target === undefined || launched === undefined) throw new CellFailure('it cannot be reached')
  const subject = {
    app: serverPids(launched),
    proxy: cell.topology === 'direct' ? [] : lineup.proxyPids(),
    generator: driver.pids(),
    cores,
  }
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
  const checked = await driver.check(plan).catch(asFailure)
  if (checked instanceof CellFailure) throw checked
  const at = (performance.now() - beganAt) / 1000
  const before = takeSample(subject)
  const load = await driver.run(plan).catch(asFailure)
  const after = takeSample(subject)
  // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
  await nextTurn()
  if (signal.aborted) return undefined
  if (load instanceof CellFailure) throw load
  failIfEnded(track, cell)
  const { cpuSeconds, disturbance } = compareSamples(before, after, load.generator)
  return {
    cell: cell.id,
    phase,
    at,
    seconds: load.seconds,
    requests: load.requests,
    checked: load.checked + checked.checked,
    errors: { ...checked.errors, ...load.errors },
    meanLatency: load.latencySeconds.mean,
    cpuSeconds,
    disturbance,
    disturbed: isDisturbed(disturbance),
    repeat,
  }
}

function asFailure(error: unknown): CellFailure {
  if (error instanceof LoadError) return new CellFailure(`no load could be offered: ${oneLine(error)}`)
  throw error
}

/**
 * Which server is no longer there says more than a thousand failed requests.
 * @throws {CellFailure} if one has ended
 */
export function failIfEnded({ lineup }: Pick<Track, 'lineup'>, cell: CellSpec): void {
  const { exitCode = null, signalCode = null } = lineup.launched(appOf(cell), cell.topology)?.child ?? {}
  if (exitCode !== null) throw new CellFailure(`the app ended with exit code ${exitCode}`)
  if (signalCode !== null) throw new CellFailure(`the app was ended by ${signalCode}`)
  if (cell.topology !== 'direct' && lineup.proxyPids().length === 0) throw new CellFailure('NGINX ended')
}
