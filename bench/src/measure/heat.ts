import { createRandom, type Random, shuffle } from '@startgrid/stats/random.ts'
import { type PlannedHeat, WARMUP_SLICE_MS } from '../experiment/cells.ts'
import { fitPasses, schedulePasses, scheduleWarmup } from '../experiment/schedule.ts'
import { learnLength } from '../experiment/workloads.ts'
import type { Workload } from '../result/experiment.ts'
import type { Heat, Slice } from '../result/heat.ts'
import type { Cell, Settings } from '../result/result.ts'
import type { Servers, Start } from '../servers/servers.ts'
import {
  CellFailure,
  type Entrant,
  type Generator,
  measureSlice,
  type SliceSpec,
  type Track,
} from './load.ts'

/** Which heat it is. */
export interface HeatFrame {
  planned: PlannedHeat
  /** How long the heat is expected to take. */
  expectedMs: number
  signal: AbortSignal
  /** Told how much of the heat is over, 0 to 1. */
  onProgress(done: number): void
}

interface HeatOptions extends HeatFrame {
  cells: readonly Cell[]
  settings: Pick<Settings, 'slices' | 'sliceMs' | 'heats' | 'looks' | 'openLoop'>
  start: Start
  generator: Generator
  workloadOf(cell: Cell): Workload
  /** What is measured once all are warm. */
  measure(course: Course): Promise<void>
}

/** A heat under way: its servers run. */
export interface Course extends HeatOptions, Track {
  random: Random
  /** Seeds of arrivals and paths. The order has its own stream, so that it does not depend on how many slices the warm-up took. */
  draws: Random
  record: Heat
  /** Those that can be reached. */
  entrants: Entrant[]
  /** Responses per second in the best slice of the warm-up, by cell. */
  rates: Map<string, number>
  /** Names of cells that failed in this heat. */
  failed: Set<string>
}

/** Makes another stream of a seed. */
const DRAWS = 0x2545f491

/**
 * One heat: the cells of a race start together, are warmed, measured, and stop. What goes wrong with one cell is recorded; the
 * others go on. After an abort the record is not complete.
 */
export async function runHeat(options: HeatOptions): Promise<Heat> {
  const { planned, signal } = options
  const record = newHeat(planned)
  const course: Course = {
    ...options,
    beganAt: performance.now(),
    random: createRandom(planned.seed),
    draws: createRandom(planned.seed ^ DRAWS),
    record,
    entrants: [],
    rates: new Map(),
    failed: new Set(),
  }
  const servers = await options.start(options.cells, { signal })
  try {
    if (!signal.aborted) {
      await enter(course, servers)
      await warm(course)
      await options.measure(course)
      record.launches = await servers.launches()
    }
  } finally {
    await servers.stop()
  }
  record.seconds = (performance.now() - course.beganAt) / 1000
  return record
}

/** Nothing has been measured yet. */
export function newHeat({ race, heat }: Pick<PlannedHeat, 'race' | 'heat'>): Heat {
  return {
    race,
    heat,
    seconds: 0,
    launches: [],
    slices: [],
    trials: [],
    commonRate: null,
    probes: [],
    failures: [],
  }
}

/** The first app that responds to a path sets the length for all that are asked the same: equal work. */
async function enter(course: Course, { running, failures }: Servers): Promise<void> {
  const learnt = new Map<string, Workload>()
  for (const cell of course.cells) {
    const server = running.get(cell.id)
    if (server === undefined) {
      fail(course, cell, failures.get(cell.id) ?? 'it was not started')
      continue
    }
    cell.engine ??= server.engine ?? null
    await attempt(course, cell, async () => {
      const asked = course.workloadOf(cell)
      const known = asked.isProven ? asked : learnt.get(asked.path)
      const workload = known ?? (await learnLength(asked, server.target))
      learnt.set(asked.path, workload)
      course.entrants.push({ cell, server, workload })
    })
  }
}

/**
 * Every cell gets the time that its app is known to need, then more until it served as many requests as that takes on a fast machine,
 * but at most twice the time.
 */
async function warm(course: Course): Promise<void> {
  const { random, rates } = course
  const all = course.entrants.map((entrant) => ({ entrant, ...entrant.cell, ms: 0, requests: 0 }))
  type Warming = (typeof all)[number]
  const warmOnce = async (one: Warming) => {
    // Opening so many connections takes longer than a slice of warm-up: one load then has all of it.
    const leastMs = one.connections < MANY_CONNECTIONS ? 0 : one.warmupMs
    const durationMs = Math.max(WARMUP_SLICE_MS, leastMs)
    const spec = { phase: 'warmup', durationMs, pass: null, seed: nextSeed(course) } as const
    const slice = await takeSlice(course, one.entrant, spec)
    // A cell that failed gets no more.
    one.ms += slice === undefined ? Number.POSITIVE_INFINITY : slice.seconds * 1000
    one.requests += slice?.requests ?? 0
    // The best one: a slice that a neighbour took would make a fast cell look slow.
    if (slice !== undefined)
      rates.set(one.id, Math.max(rates.get(one.id) ?? 0, slice.requests / slice.seconds))
  }
  // A slice of a slow cell may end a little early, for it ends with its last response.
  const isShort = ({ ms, requests, warmupMs, warmupRequests }: Warming) =>
    ms < 0.95 * warmupMs || (requests < warmupRequests && ms < 2 * warmupMs)
  for (const one of scheduleWarmup(all, random)) if (isShort(one)) await warmOnce(one)
  for (let short = all.filter(isShort); short.length > 0; short = short.filter(isShort))
    for (const one of shuffle(short, random)) await warmOnce(one)
}

const MANY_CONNECTIONS = 500

/** Every cell once per pass, in shuffled order. All cells of a pass draw the same arrivals and paths, and no two passes do. */
export async function measurePasses(course: Course): Promise<void> {
  const { entrants, rates, settings, random } = course
  const measurable = entrants.map((one) => ({ ...one, rate: rates.get(one.cell.id) ?? 0 }))
  const { passes, cells } = fitPasses(measurable, settings)
  for (const [index, planned] of schedulePasses(cells, passes, random).entries()) {
    const seed = nextSeed(course)
    for (const one of planned)
      await takeSlice(course, one, { phase: 'measure', durationMs: one.durationMs, pass: index + 1, seed })
  }
}

function nextSeed({ draws }: Pick<Course, 'draws'>): number {
  return Math.floor(draws() * 2 ** 32)
}

async function takeSlice(course: Course, entrant: Entrant, kind: SliceSpec): Promise<Slice | undefined> {
  const slice = await attempt(course, entrant.cell, () => measureSlice(course, entrant, kind))
  if (slice !== undefined) course.record.slices.push(slice)
  return slice
}

/** @returns undefined if there is nothing to record: it was aborted, or the cell has failed */
export async function attempt<Value>(
  course: Pick<Course, 'signal' | 'failed' | 'record' | 'onProgress' | 'beganAt' | 'expectedMs'>,
  cell: Cell,
  work: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  if (course.signal.aborted || course.failed.has(cell.id)) return undefined
  try {
    return await work()
  } catch (error) {
    if (course.signal.aborted) return undefined
    if (!(error instanceof CellFailure)) throw error
    fail(course, cell, error.message)
    return undefined
  } finally {
    course.onProgress(Math.min(1, (performance.now() - course.beganAt) / course.expectedMs))
  }
}

function fail({ record, failed }: Pick<Course, 'record' | 'failed'>, { id }: Cell, reason: string): void {
  failed.add(id)
  record.failures.push({ cell: id, reason })
}
