import { oneLine } from '@startgrid/cli/text.ts'
import { createRandom, type Random } from '@startgrid/stats/random.ts'
import type { Driver } from '../drivers/driver.ts'
import type { Environment } from '../environments/environment.ts'
import type { Servers } from '../environments/servers.ts'
import type { CellSpec, Heat, Mode, Settings, Slice } from '../model/result.ts'
import { expectedHeatMs, type PlannedHeat, WARMUP_SLICE_MS } from '../plan/cells.ts'
import { cutSlices, type PlannedSlice, scheduleSlices, scheduleWarmup } from '../plan/schedule.ts'
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
 * One heat: the apps of a role start together, are warmed and measured in shuffled slices, and stop. What goes wrong with one cell
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

  const rates = new Map<string, number>()
  for (const cell of scheduleWarmup(running, course.random)) {
    const slice = await take(course, cell, { phase: 'warmup', durationMs: WARMUP_SLICE_MS, repeat: false })
    if (slice !== undefined) rates.set(cell.id, slice.requests / slice.seconds)
    advance(WARMUP_SLICE_MS)
  }
  const cut = running.map((cell) => ({
    cell,
    ...cutSlices(cell, rates.get(cell.id) ?? 0, sliceSettings(course)),
  }))
  const disturbed: PlannedSlice[] = []
  for (const planned of scheduleSlices(cut, course.random)) {
    const slice = await take(course, planned.cell, { phase: 'measure', ...planned, repeat: false })
    if (slice?.disturbed) disturbed.push(planned)
    advance(planned.durationMs)
  }
  // Once, at the end: decided by what others did to our cores, never by the result.
  for (const planned of disturbed)
    await take(course, planned.cell, { phase: 'measure', ...planned, repeat: true })
  course.record.launches.push(...(await course.servers.launches(running)))
}

/** Drivers that cannot end a load so soon take fewer and longer slices. */
function sliceSettings({
  settings: { slices, sliceMs },
  driver: { capabilities },
}: Course): HeatOptions['settings'] {
  const longer = Math.max(sliceMs, capabilities.minSliceMs)
  return { slices: Math.max(1, Math.floor((slices * sliceMs) / longer)), sliceMs: longer }
}

/** @returns undefined if there is nothing to record: it was aborted, or the cell has failed */
async function take(
  course: Course,
  cell: CellSpec,
  kind: { phase: Slice['phase']; durationMs: number; repeat: boolean },
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
