import { type Random, shuffle } from '@startgrid/stats/random.ts'
import type { Cell } from '../result/result.ts'
import { WARMUP_SLICE_MS } from './cells.ts'

/** The order of slices inside a heat. */

/**
 * Slices of warm-up: every cell has as many as its length needs. They come in passes over the cells, shuffled, so that all
 * launches age alike, and the cells with the fewest come last, next to their measurement.
 */
export function scheduleWarmup<One extends Pick<Cell, 'warmupMs'>>(
  all: readonly One[],
  random: Random,
): One[] {
  const count = ({ warmupMs }: One) => Math.ceil(warmupMs / WARMUP_SLICE_MS)
  const passes = Math.max(0, ...all.map(count))
  const members = (pass: number) => all.filter((one) => count(one) >= passes - pass)
  return Array.from({ length: passes }, (_, pass) => shuffle(members(pass), random)).flat()
}

/** How a cell takes part in the passes of a heat. */
interface Part {
  /** It joins every so many passes. */
  every: number
  durationMs: number
}

/**
 * The passes of a heat. Every cell is measured once per pass, in shuffled order, so that all share what the machine does in that second. Cells with
 * long slices join some passes only, at their end.
 */
export function schedulePasses<One extends Part>(
  all: readonly One[],
  passes: number,
  random: Random,
): One[][] {
  const usual = all.filter(({ every }) => every === 1)
  const joins = (pass: number, { every }: One) =>
    every > 1 && pass % every === 0 && pass / every < Math.floor(passes / every)
  return Array.from({ length: passes }, (_, pass) => {
    const long = all.filter((one) => joins(pass, one))
    return [...shuffle(usual, random), ...shuffle(long, random)]
  })
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
 * Outside of the grid all are as long as the slowest needs: twice as long made a server look 6.2 % (0.5–12) cheaper than itself.
 */
export function fitPasses<One extends Measurable>(
  all: readonly One[],
  { slices: passes, sliceMs }: { slices: number; sliceMs: number },
): { passes: number; cells: (One & Part)[] } {
  const shortest = Math.min(...all.map((one) => Math.max(sliceMs, one.cell.leastSliceMs)))
  const fewest = Math.min(passes, ...all.map(({ cell }) => leastSlices(cell)))
  const fitted = shortest > sliceMs ? Math.max(fewest, Math.floor((passes * sliceMs) / shortest)) : passes
  const usual = { slices: fitted, sliceMs: Math.max(sliceMs, shortest) }
  const slowest = Math.min(...all.map(({ rate }) => (rate > 0 ? rate : Number.POSITIVE_INFINITY)))
  const cells = all.map((one) => {
    const { cell, rate } = one
    return { ...one, ...partOf({ cell, rate: cell.role === null ? slowest : rate }, usual) }
  })
  return { passes: fitted, cells }
}

function partOf(
  { cell, rate }: Measurable,
  { slices: passes, sliceMs }: { slices: number; sliceMs: number },
): Part {
  const neededMs = rate > 0 ? (RESPONSES_PER_CONNECTION * cell.connections * 1000) / rate : 0
  const leastMs = Math.max(cell.leastSliceMs, Math.min(LONGEST_FILLING_MS, neededMs))
  if (leastMs <= sliceMs) return { every: 1, durationMs: sliceMs }
  const count = Math.max(leastSlices(cell), Math.floor((passes * sliceMs) / leastMs))
  return { every: Math.max(1, Math.floor(passes / count)), durationMs: Math.ceil(leastMs) }
}

function leastSlices({ leastSliceMs }: Cell): number {
  return leastSliceMs > 0 ? 1 : LEAST_SLICES
}
