import { type Random, shuffle } from '@startgrid/stats/random.ts'
import type { CellSpec } from '../model/result.ts'
import { WARMUP_SLICE_MS } from './cells.ts'

/** The order of slices inside a heat. */

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

/** How a cell takes part in the passes of a heat. */
export interface PlannedCell {
  cell: CellSpec
  /** It joins every so many passes. */
  every: number
  durationMs: number
}

/**
 * The passes of a heat. Every cell is measured once per pass, in shuffled order, so that all share what the machine does in that second. Cells with
 * long slices join some passes only, at their end.
 */
export function schedulePasses(
  cells: readonly PlannedCell[],
  passes: number,
  random: Random,
): PlannedCell[][] {
  return Array.from({ length: passes }, (_, pass) => [
    ...shuffle(
      cells.filter(({ every }) => every === 1),
      random,
    ),
    ...shuffle(
      cells.filter(({ every }) => every > 1 && pass % every === every - 1),
      random,
    ),
  ])
}

/** Slices are at least this many times as long as a request of one connection waits for its response. */
const RESPONSES_PER_CONNECTION = 4

/** A cell with long slices has at least so many per heat. */
const LEAST_SLICES = 3

/**
 * How long the slices of a cell are (4 × connections / rate, if that is longer), and how many passes it joins: so many that it is measured for
 * about as long as the others.
 * @param rate responses per second, as the warm-up saw it
 */
export function fitSlices(
  cell: CellSpec,
  rate: number,
  { slices: passes, sliceMs }: { slices: number; sliceMs: number },
): PlannedCell {
  const leastMs = rate > 0 ? (RESPONSES_PER_CONNECTION * cell.connections * 1000) / rate : sliceMs
  if (leastMs <= sliceMs) return { cell, every: 1, durationMs: sliceMs }
  const count = Math.max(LEAST_SLICES, Math.floor((passes * sliceMs) / leastMs))
  return { cell, every: Math.max(1, Math.floor(passes / count)), durationMs: Math.ceil(leastMs) }
}

/** The same for studies, whose slices are longer. */
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
