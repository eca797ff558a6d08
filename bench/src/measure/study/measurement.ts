import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError } from '@startgrid/loadgen'
import { compareSamples, type Sample, type Subject, takeSample } from '@startgrid/machine/accounts/sample.ts'
import type { Checked } from '../../drivers/driver.ts'
import type { RunningSystem } from '../../environments/study/running-system.ts'
import { isDisturbed } from '../../judge/gates/interference.ts'
import { trialOf } from '../../judge/trial.ts'
import type { Slice } from '../../model/result.ts'
import type { StudyCell, StudyCores, StudyOpenLoad, StudySlice } from '../../model/study-result.ts'
import type { Workload } from '../../model/workload.ts'
import { addErrors, CellFailure } from '../slice.ts'
import { acceptedConnections } from './connections.ts'
import type { Generators, StudyLoad, StudyPlan } from './generators.ts'

/** An interpreted page with 64 connections, or a cold server with 10,000, takes seconds per answer. */
const TIMEOUT_MS = 20_000

/** From so many connections on, opening them takes a part of a slice that is worth leaving out. */
const MANY_CONNECTIONS = 500
const SETTLE_MS = 2000

/** What measurements of one heat have in common. */
export interface Track {
  generators: Generators
  cores: StudyCores | null
  signal: AbortSignal
  /** `performance.now()` at the beginning of the heat. */
  beganAt: number
}

/** One system that is to be measured, with what is asked of it. */
export interface Entrant {
  cell: StudyCell
  running: RunningSystem
  workload: Workload
}

export interface SliceKind {
  phase: Slice['phase']
  durationMs: number
  repeat: boolean
}

/**
 * Offers one load and takes what the kernel says of it before and after.
 * @returns undefined after an abort
 * @throws {CellFailure} if no load could be offered, or the system has ended
 */
export async function measureSystem(
  track: Track,
  entrant: Entrant,
  kind: SliceKind,
): Promise<StudySlice | undefined> {
  const { generators, signal } = track
  const { cell } = entrant
  const plan = planOf(entrant, kind.durationMs, signal)
  return attempt(track, entrant, async () => {
    const checked = await generators.check(cell.generator, plan)
    const at = (performance.now() - track.beganAt) / 1000
    const observed = await observe(track, entrant, () => generators.offer(cell.generator, plan))
    return { ...sliceOf(cell, kind, observed, checked), at }
  })
}

export interface OpenLoad {
  /** From 1: which launch. */
  heat: number
  /** Requests per second. */
  rate: number
  durationMs: number
  /** Of arrivals: no two loads have the same ones. */
  seed: number
}

/**
 * Offers one open loop: requests are due at random times, whatever became of those before.
 * @returns undefined after an abort
 * @throws {CellFailure} as `measureSystem`
 */
export async function measureOpenLoad(
  track: Track,
  entrant: Entrant,
  { heat, rate, durationMs, seed }: OpenLoad,
): Promise<StudyOpenLoad | undefined> {
  const { settleMs, ...plan } = planOf(entrant, durationMs, track.signal)
  return attempt(track, entrant, async () => {
    const at = (performance.now() - track.beganAt) / 1000
    const { before, after, load } = await observe(track, entrant, () =>
      track.generators.own.offer({ ...plan, warmupMs: settleMs, rate, seed }),
    )
    const own = { cpuSeconds: load.cpu.seconds, waitSeconds: load.self.waitSeconds }
    const { cpuSeconds, disturbance } = compareSamples(before, after, own)
    const spec = { purpose: 'level', level: 'common', rate, durationMs, histograms: true } as const
    const frame = { cell: entrant.cell.system, launch: heat, at, cpuSeconds, disturbance }
    const trial = trialOf(load, spec, { ...frame, disturbed: isDisturbed(disturbance) })
    return { ...trial, meanMs: load.latency.mean }
  })
}

/** What may go wrong with any load, told apart. */
async function attempt<Measured>(
  { signal }: Pick<Track, 'signal'>,
  { running }: Pick<Entrant, 'running'>,
  work: () => Promise<Measured>,
): Promise<Measured | undefined> {
  try {
    const measured = await work()
    // Ctrl-C reaches the servers as well; what they then did to the load is not theirs.
    await nextTurn()
    if (signal.aborted) return undefined
    const ended = running.whyEnded()
    if (ended !== undefined) throw new CellFailure(ended)
    return measured
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    if (signal.aborted) return undefined
    throw new CellFailure(running.whyEnded() ?? `no load could be offered: ${oneLine(error)}`)
  }
}

function planOf({ cell, running, workload }: Entrant, durationMs: number, signal: AbortSignal): StudyPlan {
  return {
    target: running.target,
    path: workload.path,
    connections: cell.connections ?? 1,
    durationMs,
    settleMs: settleMsOf(cell),
    timeoutMs: TIMEOUT_MS,
    expect: { status: 200, body: workload.expect, checkEvery: 100 },
    signal,
  }
}

function sliceOf(
  cell: StudyCell,
  { phase, repeat }: SliceKind,
  { before, after, load }: Observed<StudyLoad>,
  checked: Checked,
): Omit<StudySlice, 'at'> {
  const { cpuSeconds, disturbance } = compareSamples(before, after, load.generator)
  // With a settled load the generator's own connections were there before.
  const own = settleMsOf(cell) > 0 ? 0 : (cell.connections ?? 1)
  return {
    cell: cell.system,
    phase,
    seconds: load.seconds,
    requests: load.requests,
    checked: load.checked + checked.checked,
    errors: addErrors(checked.errors, load.errors),
    meanLatency: load.meanLatency,
    cpuSeconds,
    disturbance,
    disturbed: isDisturbed(disturbance),
    repeat,
    latency: load.latency,
    secondRates: load.secondRates,
    otherConnections: openedBetween(before, after, own),
  }
}

/** Milliseconds of each load that are not counted. Foreign generators have no such thing. */
export function settleMsOf({ connections, generator }: StudyCell): number {
  return generator === 'startgrid' && (connections ?? 0) >= MANY_CONNECTIONS ? SETTLE_MS : 0
}

type StudySample = Sample & { accepted: number | undefined }

/** A load, and what the kernel said when counting began and ended. */
interface Observed<Load> {
  before: StudySample
  after: StudySample
  load: Load
}

/** The first sample is that of when counting began, which may be a while after the load did. */
async function observe<Load extends { seconds: number }>(
  { generators, cores }: Track,
  { cell, running }: Pick<Entrant, 'cell' | 'running'>,
  offer: () => Promise<Load>,
): Promise<Observed<Load>> {
  const driver = await generators.driver(cell.generator)
  const subject = {
    app: running.appPids(),
    proxy: running.proxyPids(),
    generator: driver.pids(),
    cores: cores && { server: cores.servers[0] ?? 0, generator: cores.generator },
  }
  if (settleMsOf(cell) === 0) {
    const before = sampleOf(subject)
    const load = await offer()
    return { before, after: sampleOf(subject), load }
  }
  const samples = [sampleOf(subject)]
  const timer = setInterval(() => samples.push(sampleOf(subject)), SAMPLE_EVERY_MS)
  const load = await offer().finally(() => clearInterval(timer))
  const after = sampleOf(subject)
  return { before: nearest(samples, after.at - load.seconds * 1000), after, load }
}

/** Opening connections takes nobody knows how long, so when counting began is known at its end only. */
const SAMPLE_EVERY_MS = 100

/** @param at milliseconds, as the samples have it */
function nearest(samples: readonly StudySample[], at: number): StudySample {
  const distance = (sample: StudySample) => Math.abs(sample.at - at)
  return samples.reduce((best, sample) => (distance(sample) < distance(best) ? sample : best))
}

function sampleOf(subject: Subject): StudySample {
  return { ...takeSample(subject), accepted: acceptedConnections() }
}

function openedBetween(before: StudySample, after: StudySample, own: number): number | null {
  if (before.accepted === undefined || after.accepted === undefined) return null
  return Math.max(0, after.accepted - before.accepted - own)
}
