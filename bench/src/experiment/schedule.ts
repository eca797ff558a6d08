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

/** Every cell is measured once per pass, in shuffled order, so that all share what the machine does in that second. */
export function schedulePasses<One>(all: readonly One[], passes: number, random: Random): One[][] {
  return Array.from({ length: passes }, () => shuffle(all, random))
}

/** Slices are at least this many times as long as a request of one connection waits for its response. */
const RESPONSES_PER_CONNECTION = 4

/**
 * Milliseconds. The rate is that of a few slices of warm-up: where others had the core in all of them, a fast cell would get slices of many
 * seconds.
 */
const LONGEST_FILLING_MS = 2000

/** So many slices per heat at least; one, if a study asks for slices of seconds. */
const LEAST_SLICES = 3

/** A cell, with what decides how long its slices are. */
interface Measurable {
  cell: Cell
  /** Responses per second, as the warm-up saw it. */
  rate: number
}

/**
 * The passes of a heat: how many there are, and how long each slice lasts, in milliseconds. Slices last at least 4 × connections / rate of the slowest
 * cell, up to 2 s, and all equally long: the first responses after a pause cost more, so a longer slice looks cheaper. The longer, the fewer.
 */
export function fitPasses(
  all: readonly Measurable[],
  { slices, sliceMs }: { slices: number; sliceMs: number },
): { passes: number; durationMs: number } {
  const asked = Math.max(0, ...all.map(({ cell }) => cell.leastSliceMs))
  const filling = Math.max(0, ...all.map(fillingMs))
  const durationMs = Math.ceil(Math.max(sliceMs, asked, Math.min(LONGEST_FILLING_MS, filling)))
  const least = Math.min(slices, asked > 0 ? 1 : LEAST_SLICES)
  return { passes: Math.max(least, Math.floor((slices * sliceMs) / durationMs)), durationMs }
}

function fillingMs({ cell, rate }: Measurable): number {
  return rate > 0 ? (RESPONSES_PER_CONNECTION * cell.connections * 1000) / rate : 0
}
