import { oneLine } from '@startgrid/cli/text.ts'
import type { Spinner } from '@startgrid/machine/spin.ts'
import { createRandom, type Random, shuffle } from '@startgrid/stats/random.ts'
import type { Driver } from '../drivers/driver.ts'
import type { Environment } from '../environments/environment.ts'
import type { Servers } from '../environments/servers.ts'
import type { CellSpec, Heat, Mode, Settings, Slice } from '../model/result.ts'
import { expectedHeatMs, type PlannedHeat, WARMUP_SLICE_MS } from '../plan/cells.ts'
import { fitSlices, schedulePasses, scheduleWarmup } from '../plan/schedule.ts'
import { learnLength, WORKLOADS } from '../plan/workloads.ts'
import { CellFailure, measureSlice, type Track } from './slice.ts'

export interface HeatOptions {
  planned: PlannedHeat
  cells: readonly CellSpec[]
  settings: Pick<Settings, 'slices' | 'sliceMs'>
  /** How long a start is expected to take. */
  mode: Mode
  environment: Pick<Environment, 'startServers'>
  driver: Driver
  /** Says how fast the servers' core is; undefined where that is not known. */
  spinner?: Pick<Spinner, 'spin'> | undefined
  /** Cells that were still cold in earlier heats: how many more slices of warm-up each gets. */
  moreWarmup: ReadonlyMap<string, number>
  /** `performance.now()` after which no further pass begins. */
  endsAt: number
  signal: AbortSignal
  /** Told how much of the heat is over, 0 to 1. */
  onProgress(done: number): void
}

interface Course extends HeatOptions, Track {
  random: Random
  record: Heat
  /** Names of cells that failed in this heat. */
  failed: Set<string>
}

/**
 * One heat: the apps of a role start together, are warmed, measured in passes, and stop. What goes wrong with one cell
 * is recorded; the others go on. After an abort the record is not complete.
 */
export async function runHeat(options: HeatOptions): Promise<Heat> {
  const beganAt = performance.now()
  const { role, heat, seed } = options.planned
  const record: Heat = {
    role,
    heat,
    startedAt: new Date().toISOString(),
    seconds: 0,
    launches: [],
    slices: [],
    moreWarmup: [],
    spins: [],
    failures: [],
  }
  const servers = await startServers(options, options.cells, record)
  if (servers !== undefined) {
    const failed = new Set<string>()
    const random = createRandom(seed)
    const course = { ...options, servers, workload: WORKLOADS[role], beganAt, random, record, failed }
    try {
      if (!options.signal.aborted) await race(course)
    } finally {
      await servers.stop()
    }
  }
  record.seconds = (performance.now() - beganAt) / 1000
  return record
}

/** Without NGINX, if that does not start, there are still the cells that need none. */
async function startServers(
  options: HeatOptions,
  cells: readonly CellSpec[],
  record: Heat,
): Promise<Servers | undefined> {
  try {
    return await options.environment.startServers(cells)
  } catch (error) {
    if (options.signal.aborted) return undefined
    const proxied = cells.filter(({ topology }) => topology !== 'direct')
    const lost = proxied.length > 0 ? proxied : cells
    const reason = `the servers did not start: ${oneLine(error)}`
    record.failures.push(...lost.map(({ id }) => ({ cell: id, reason })))
    const direct = cells.filter((cell) => !lost.includes(cell))
    return direct.length > 0 ? startServers(options, direct, record) : undefined
  }
}

async function race(course: Course): Promise<void> {
  const running = course.cells.filter((cell) => isReachable(course, cell))
  const [first] = running
  const target = first && course.servers.target(first)
  if (target !== undefined) course.workload = await learnLength(course.workload, target, course.driver)
  const advance = progressOf(course, running)

  const rates = await warm(course, running, () => advance(WARMUP_SLICE_MS))
  const settings = sliceSettings(course)
  const cells = running.map((cell) => fitSlices(cell, rates.get(cell.id) ?? 0, settings))
  for (const [index, planned] of schedulePasses(cells, settings.slices, course.random).entries()) {
    if (index >= LEAST_PASSES && performance.now() > course.endsAt) break
    await spin(course, index + 1)
    for (const { cell, durationMs } of planned) {
      await take(course, cell, { phase: 'measure', durationMs, pass: index + 1 })
      advance(durationMs)
    }
  }
  course.record.launches.push(...(await course.servers.launches(running)))
}

/** Fewer passes say too little. */
const LEAST_PASSES = 3

/**
 * Every cell gets the time that its app is known to need, then more until it answered as many requests as that takes on a fast machine,
 * but at most twice the time. @returns responses per second in its best slice, by cell
 */
async function warm(
  course: Course,
  running: readonly CellSpec[],
  onSlice: () => void,
): Promise<ReadonlyMap<string, number>> {
  const { random, moreWarmup, record } = course
  const rates = new Map<string, number>()
  const done = new Map(running.map(({ id }) => [id, { ms: 0, requests: 0 }]))
  const warmOnce = async (cell: CellSpec) => {
    const slice = await take(course, cell, { phase: 'warmup', durationMs: WARMUP_SLICE_MS, pass: null })
    const { ms = 0, requests = 0 } = done.get(cell.id) ?? {}
    // A cell that failed gets no more.
    const spentMs = slice === undefined ? Number.POSITIVE_INFINITY : slice.seconds * 1000
    done.set(cell.id, { ms: ms + spentMs, requests: requests + (slice?.requests ?? 0) })
    // The best one: a slice that a neighbour took would make a fast cell look slow.
    if (slice !== undefined)
      rates.set(cell.id, Math.max(rates.get(cell.id) ?? 0, slice.requests / slice.seconds))
  }
  for (const cell of scheduleWarmup(running, random)) {
    await warmOnce(cell)
    onSlice()
  }
  const more = moreUntil(course, running)
  const isShort = ({ id, warmupMs, warmupRequests }: CellSpec) => {
    const { ms = 0, requests = 0 } = done.get(id) ?? {}
    // A slice of a slow cell may end a little early, for it ends with its last response.
    if (ms < 0.95 * warmupMs) return true
    return requests < warmupRequests && ms < 2 * warmupMs && performance.now() < more
  }
  for (let short = running.filter(isShort); short.length > 0; short = short.filter(isShort))
    for (const cell of shuffle(short, random)) await warmOnce(cell)
  const colder = running.filter(({ id }) => moreWarmup.has(id))
  for (const cell of colder) {
    const slices = moreWarmup.get(cell.id) ?? 0
    for (let slice = 0; slice < slices; slice++) await warmOnce(cell)
    record.moreWarmup.push({ cell: cell.id, slices })
  }
  return rates
}

/** `performance.now()` when a warm-up that lasted long enough, but answered too few requests, has to end: the planned passes come first. */
function moreUntil({ endsAt, settings, mode }: Course, running: readonly CellSpec[]): number {
  const passesMs =
    expectedHeatMs(running, settings, mode) - expectedHeatMs(running, { ...settings, slices: 0 }, mode)
  return endsAt - passesMs
}

async function spin({ spinner, record, signal }: Course, pass: number): Promise<void> {
  const cpuSeconds = signal.aborted ? null : ((await spinner?.spin()) ?? null)
  if (cpuSeconds !== null) record.spins.push({ pass, cpuSeconds })
}

/** Drivers that cannot end a load so soon take fewer and longer slices. */
function sliceSettings({
  settings: { slices, sliceMs },
  driver: { capabilities },
}: Course): HeatOptions['settings'] {
  const longer = Math.max(sliceMs, capabilities.minSliceMs)
  return {
    slices: Math.max(Math.min(slices, LEAST_PASSES), Math.floor((slices * sliceMs) / longer)),
    sliceMs: longer,
  }
}

/** @returns undefined if there is nothing to record: it was aborted, or the cell has failed */
async function take(
  course: Course,
  cell: CellSpec,
  kind: { phase: Slice['phase']; durationMs: number; pass: number | null },
): Promise<Slice | undefined> {
  if (course.signal.aborted || course.failed.has(cell.id)) return undefined
  try {
    const slice = await measureSlice(course, cell, kind)
    if (slice !== undefined) course.record.slices.push(slice)
    return slice
  } catch (error) {
    if (!(error instanceof CellFailure)) throw error
    fail(course, cell, error.message)
    return undefined
  }
}

function fail({ record, failed }: Course, { id }: CellSpec, reason: string): void {
  failed.add(id)
  record.failures.push({ cell: id, reason })
}

function isReachable(course: Course, cell: CellSpec): boolean {
  const { servers, record } = course
  if (servers.target(cell) !== undefined) {
    cell.engine ??= servers.engine(cell)
    return true
  }
  const known = record.failures.some((one) => one.cell === cell.id)
  if (!known) fail(course, cell, servers.whyMissing(cell))
  return false
}

function progressOf(course: Course, running: readonly CellSpec[]): (milliseconds: number) => void {
  const total = expectedHeatMs(running, course.settings, course.mode)
  const { slices, sliceMs } = course.settings
  let spent = total - running.reduce((sum, { warmupMs }) => sum + warmupMs + slices * sliceMs, 0)
  return (milliseconds) => {
    spent += milliseconds
    course.onProgress(Math.min(1, spent / total))
  }
}
