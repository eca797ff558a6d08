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

/** A cell has at least so many slices per heat; one, if a study asks for slices of seconds. */
const LEAST_SLICES = 3

/** Of cells that differ by more than this in what they need, a bias of a few percent says nothing. */
const ALIKE = 4

/** A cell, with what decides how long its slices are. */
interface Measurable {
  cell: Cell
  /** Responses per second, as the warm-up saw it. */
  rate: number
}

/**
 * The passes of a heat: how many there are, and which each cell joins. A cell needs slices of at least 4 × connections / rate, up to 2 s. All get the
 * length that the slowest needs, and the longer it is, the fewer passes there are: slices of 100 instead of 50 ms made a server look 6.2 % (0.5–12)
 * cheaper than itself. Who needs more than four times as much as the fastest has slices of its own, in some passes only.
 */
export function fitPasses<One extends Measurable>(
  all: readonly One[],
  { slices, sliceMs }: { slices: number; sliceMs: number },
): { passes: number; cells: (One & Part)[] } {
  const needs = all.map((one) => Math.max(sliceMs, neededMs(one)))
  const usualMs = Math.max(...needs.filter((ms) => ms <= ALIKE * Math.min(...needs)))
  const fewest = Math.min(slices, ...all.map(leastSlices))
  const passes = Math.max(fewest, Math.floor((slices * sliceMs) / usualMs))
  const cells = all.map((one, index) => {
    const durationMs = Math.max(usualMs, needs[index] ?? 0)
    const count = Math.max(leastSlices(one), Math.floor((passes * usualMs) / durationMs))
    return { ...one, durationMs, every: Math.max(1, Math.floor(passes / count)) }
  })
  return { passes, cells }
}

function neededMs({ cell, rate }: Measurable): number {
  const filling = rate > 0 ? (RESPONSES_PER_CONNECTION * cell.connections * 1000) / rate : 0
  return Math.ceil(Math.max(cell.leastSliceMs, Math.min(LONGEST_FILLING_MS, filling)))
}

function leastSlices({ cell }: Measurable): number {
  return cell.leastSliceMs > 0 ? 1 : LEAST_SLICES
}
