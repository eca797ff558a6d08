import { type Random, shuffle } from '@startgrid/stats/random.ts'
import type { Cell } from '../result/cell.ts'
import { WARMUP_SLICE_MS } from './cells.ts'

/** The order of slices inside a heat. */

/**
 * Slices of warm-up: every cell has as many as its length needs. They come in passes over the cells, shuffled, so that all
 * launches age alike, and the cells with the fewest come last, next to their measurement.
 */
export function scheduleWarmup<One extends Cell>(cells: readonly One[], random: Random): One[] {
  const count = ({ warmupMs }: Cell) => Math.ceil(warmupMs / WARMUP_SLICE_MS)
  const passes = Math.max(0, ...cells.map(count))
  return Array.from({ length: passes }, (_, pass) =>
    shuffle(
      cells.filter((cell) => count(cell) >= passes - pass),
      random,
    ),
  ).flat()
}

/** How a cell takes part in the passes of a heat. */
interface PlannedCell {
  cell: Cell
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
      cells.filter(
        ({ every }) => every > 1 && pass % every === 0 && pass / every < Math.floor(passes / every),
      ),
      random,
    ),
  ])
}

/** Slices are at least this many times as long as a request of one connection waits for its response. */
const RESPONSES_PER_CONNECTION = 4

/**
 * Milliseconds. The rate is that of a few slices of warm-up: where others had the core in all of them, a fast cell would get slices of many
 * seconds.
 */
const LONGEST_FILLING_MS = 2000

/** A cell with long slices has at least so many per heat; one, if a study asks for slices of seconds. */
const LEAST_SLICES = 3

/** A cell, with what decides how long its slices are. */
interface Measurable {
  cell: Cell
  /** Responses per second, as the warm-up saw it. */
  rate: number
}

/**
 * The passes of a heat: how many there are, and which each cell joins. Slices last at least 4 × connections / rate, up to 2 s. Where that or the
 * study makes them longer, a cell joins so many passes that it is measured for about as long as the others; where all are longer, there are fewer passes.
 */
export function fitPasses(
  cells: readonly Measurable[],
  { slices: passes, sliceMs }: { slices: number; sliceMs: number },
): { passes: number; cells: PlannedCell[] } {
  const shortest = Math.min(...cells.map((one) => Math.max(sliceMs, one.cell.leastSliceMs)))
  const fewest = Math.min(passes, ...cells.map(({ cell }) => leastSlices(cell)))
  const fitted = shortest > sliceMs ? Math.max(fewest, Math.floor((passes * sliceMs) / shortest)) : passes
  return {
    passes: fitted,
    cells: cells.map((one) => fitCell(one, { slices: fitted, sliceMs: Math.max(sliceMs, shortest) })),
  }
}

function fitCell(
  measurable: Measurable,
  { slices: passes, sliceMs }: { slices: number; sliceMs: number },
): PlannedCell {
  const { cell, rate } = measurable
  const neededMs = rate > 0 ? (RESPONSES_PER_CONNECTION * cell.connections * 1000) / rate : 0
  const fillingMs = Math.min(LONGEST_FILLING_MS, neededMs)
  const leastMs = Math.max(cell.leastSliceMs, fillingMs)
  if (leastMs <= sliceMs) return { cell, every: 1, durationMs: sliceMs }
  const count = Math.max(leastSlices(cell), Math.floor((passes * sliceMs) / leastMs))
  return { cell, every: Math.max(1, Math.floor(passes / count)), durationMs: Math.ceil(leastMs) }
}

function leastSlices({ leastSliceMs = 0 }: Cell): number {
  return leastSliceMs > 0 ? 1 : LEAST_SLICES
}
