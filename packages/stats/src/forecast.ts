import { mean, median, sampleVariance } from './moments.ts'
import { tQuantile } from './student.ts'

/** How wide intervals will be, before anything is measured: from short calibrated spins on each core that is measured. */

/** A spin does the same work each time. */
export interface Spin {
  /** Seconds since the trace began. */
  at: number
  /** CPU time that it took, in seconds. Being preempted does not count. */
  cpuSeconds: number
}

/** How a run will be measured. */
export interface Design {
  /** Cells of a heat. */
  cells: number
  /** Apps that are compared with each other in one race, the twin included. */
  rows: number
  /** Those of a heat, on average. */
  passes: number
  sliceSeconds: number
  /** From the beginning of one slice to the next. */
  stepSeconds: number
}

export interface Forecast {
  /** By what factor the speed of a core varies: the 90th over the 10th percentile of its spins. Of several cores the largest. */
  spread: number
  /**
   * The 95 % half-width of a ratio, as a part of 1.
   * @param heats per role, at least 2
   */
  halfWidth(heats: number): number
  /** The fewest heats with at most this half-width; null if a thousand are not enough. */
  heatsFor(halfWidth: number): number | null
}

/**
 * Noise that a trace does not show, from default runs on two machines: a quiet one, and one whose core changed its speed by 1.5 within
 * seconds. Standard deviations of logarithms.
 */
const NOISE = {
  /** Between launches of one app. */
  launch: 0.016,
  /** Of a slice, however long it is. */
  floor: 0.02,
  /** Of a slice of 200 ms on a quiet core; it falls with the root of the length. */
  slice: 0.035,
  /** How the noise of such a slice grows, per standard deviation of the core's speed: by 0.12 at 0.21. */
  perSpeed: 0.53,
}

const REFERENCE_SECONDS = 0.2

/** More heats than anybody waits for. */
const MOST_HEATS = 1000

/**
 * Forecasts half-widths of the ratios of a run that is measured in passes.
 *
 * The variance of a slice within its pass has three parts: the changes of the cores' speed within a pass, from the spins; the slice's own
 * noise, which spins do not show and which is estimated from the total variation of the cores; and a floor. Each core counts for half,
 * because a load waits for one side at a time. With the sum of both, forecasts were 1.3 to 1.85 times the half-widths of seven runs. From
 * these parts follow the standard error of a difference of two launch means, and the interval by Student's t.
 * @param cores of each core its spins in order, 5 s of them or more; at least 20
 * @throws {RangeError} with fewer spins, or fewer than two heats
 */
export function forecast(cores: readonly (readonly Spin[])[], design: Design): Forecast {
  const least = Math.min(...cores.map(({ length }) => length))
  if (!(least >= 20 && cores.length > 0))
    throw new RangeError(`a forecast needs 20 spins, there are ${least}`)
  const found = cores.map((spins) => variationOf(spins, design))
  const meanOf = (part: 'speed' | 'within') => mean(found.map((core) => core[part]))
  const own =
    (NOISE.slice ** 2 + NOISE.perSpeed ** 2 * meanOf('speed')) * (REFERENCE_SECONDS / design.sliceSeconds)
  const slice = own + NOISE.floor ** 2 + meanOf('within')
  const halfWidth = (heats: number): number => {
    if (!(heats >= 2)) throw new RangeError(`an interval needs 2 heats, not ${heats}`)
    const variance = (2 * (NOISE.launch ** 2 + slice / design.passes)) / heats
    return Math.expm1(tQuantile(0.975, Math.max(1, (design.rows - 1) * (heats - 1))) * Math.sqrt(variance))
  }
  return {
    spread: Math.max(...found.map(({ spread }) => spread)),
    halfWidth,
    heatsFor(wanted) {
      for (let heats = 2; heats <= MOST_HEATS; heats++) if (halfWidth(heats) <= wanted) return heats
      return null
    },
  }
}

/** How the speed of one core varied: its spread, its variance, and that within stretches as long as a pass. */
function variationOf(spins: readonly Spin[], design: Design): Record<'spread' | 'speed' | 'within', number> {
  const logs = spins.map(({ cpuSeconds }) => Math.log(cpuSeconds))
  const sorted = logs.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))] ?? Number.NaN
  const spin = spinVariance(logs)
  return {
    spread: Math.exp(at(0.9) - at(0.1)),
    speed: Math.max(0, sampleVariance(logs) - spin),
    within: withinPass(spins, logs, spin, design),
  }
}

/** Variance of a spin itself, from differences to the next spin. The median, because a change of speed is not an error of a spin. */
function spinVariance(logs: readonly number[]): number {
  const changes = logs.slice(1).map((log, index) => Math.abs(log - (logs[index] ?? log)))
  return (1.4826 * median(changes)) ** 2 / 2
}

/** Variance of the core's speed, averaged over slices, within stretches as long as a pass. */
function withinPass(
  spins: readonly Spin[],
  logs: readonly number[],
  spin: number,
  { cells, sliceSeconds, stepSeconds }: Design,
): number {
  const seconds = (spins.at(-1)?.at ?? 0) - (spins[0]?.at ?? 0)
  const spacing = seconds / (spins.length - 1)
  const perSlice = Math.max(1, Math.round(sliceSeconds / spacing))
  const slices = Array.from({ length: Math.max(1, logs.length - perSlice + 1) }, (_, from) =>
    mean(logs.slice(from, from + perSlice)),
  )
  const perPass = Math.min(slices.length, Math.max(2, Math.round((cells * stepSeconds) / spacing)))
  const windows = Array.from({ length: Math.ceil((slices.length - perPass + 1) / perSlice) }, (_, index) =>
    sampleVariance(slices.slice(index * perSlice, index * perSlice + perPass)),
  )
  return Math.max(0, mean(windows) - spin / perSlice)
}
