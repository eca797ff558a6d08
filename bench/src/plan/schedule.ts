import { type Random, shuffle } from '@startgrid/stats/random.ts'
import type { CellSpec } from '../model/result.ts'
import { WARMUP_SLICE_MS } from './cells.ts'

/** The order of slices inside a heat. */

/** A process that idles longer than this loses its idle connections (Node's keepAliveTimeout) and may go to sleep. */
const LONGEST_IDLE_MS = 5000

const TRIES = 50

/**
 * Slices of warm-up: every cell has as many as its length needs. They come in passes over the cells, shuffled, so that all
 * launches age alike, and the cells with the fewest come last, next to their measurement.
 */
export function scheduleWarmup(cells: readonly CellSpec[], random: Random): CellSpec[] {
  const count = ({ warmupMs }: CellSpec) => Math.ceil(warmupMs / WARMUP_SLICE_MS)
  const passes = Math.max(0, ...cells.map(count))
  return Array.from({ length: passes }, (_, pass) =>
    shuffle(
      cells.filter((cell) => count(cell) >= passes - pass),
      random,
    ),
  ).flat()
}

/** One slice of a schedule. */
export interface PlannedSlice {
  cell: CellSpec
  durationMs: number
}

/**
 * Measured slices in passes: each pass has every cell once, shuffled, so that no cell gets the beginning or the end of a heat. Of
 * several orders the first is taken in which no app idles for 5 s, or else the one with the shortest idle time.
 * @param cells with how many slices, and how long, each of them needs
 */
export function scheduleSlices(
  cells: readonly { cell: CellSpec; slices: number; durationMs: number }[],
  random: Random,
): PlannedSlice[] {
  const draw = (): PlannedSlice[] => {
    const passes = Math.max(0, ...cells.map(({ slices }) => slices))
    return Array.from({ length: passes }, (_, pass) =>
      shuffle(
        cells.filter(({ slices }) => slices > pass),
        random,
      ),
    ).flat()
  }
  let best = draw()
  for (let tries = 1; tries < TRIES && longestIdleMs(best) > LONGEST_IDLE_MS; tries++) {
    const other = draw()
    if (longestIdleMs(other) < longestIdleMs(best)) best = other
  }
  return best.map(({ cell, durationMs }) => ({ cell, durationMs }))
}

/** The longest that an app waits for its next slice, in milliseconds. */
export function longestIdleMs(slices: readonly PlannedSlice[]): number {
  const lastEnd = new Map<string, number>()
  let now = 0
  let longest = 0
  for (const { cell, durationMs } of slices) {
    longest = Math.max(longest, now - (lastEnd.get(cell.app) ?? 0))
    now += durationMs
    lastEnd.set(cell.app, now)
  }
  return longest
}

/** Slices are at least this many times as long as a request of one connection waits for its answer. */
const ANSWERS_PER_CONNECTION = 8

/**
 * How the measured time of one heat is cut for a cell: slow ones get fewer and longer slices, because what begins and ends inside a
 * slice must not matter (8 × connections / rate).
 * @param rate answers per second, as the warm-up saw it
 */
export function cutSlices(
  { connections }: Pick<CellSpec, 'connections'>,
  rate: number,
  { slices, sliceMs }: { slices: number; sliceMs: number },
): { slices: number; durationMs: number } {
  const leastMs = rate > 0 ? (ANSWERS_PER_CONNECTION * connections * 1000) / rate : sliceMs
  if (leastMs <= sliceMs) return { slices, durationMs: sliceMs }
  return { slices: Math.max(1, Math.floor((slices * sliceMs) / leastMs)), durationMs: Math.ceil(leastMs) }
}
