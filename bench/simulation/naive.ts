import type { Interval } from '@startgrid/stats/estimate.ts'
import { toInterval, withComponents } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import type { Random } from '@startgrid/stats/random.ts'
import type { Heat, Slice } from '../src/model/result.ts'

/** What benchmarks commonly do, for comparison: intervals of the ratio of two cells' rates, heats taken off as well as may be. */

/** Slices taken for independent replicates: Welch's t over all of them. */
export function slicesAsReplicates(heats: readonly Heat[], a: string, b: string): Interval | null {
  const [one = [], other = []] = [a, b].map((cell) => heats.flatMap((heat) => logRates(heat, cell)))
  if (one.length < 2 || other.length < 2) return null
  const components = [one, other].map((logs) => ({
    variance: sampleVariance(logs) / logs.length,
    df: logs.length - 1,
  }))
  return toInterval(withComponents(mean(one) - mean(other), components, one.length + other.length - 2))
}

const RESAMPLES = 400

/** Percentile bootstrap over launches (Efron 1979): heats are drawn again, and the ratio in each of them. */
export function percentileBootstrap(
  heats: readonly Heat[],
  [a, b]: readonly [string, string],
  random: Random,
): Interval | null {
  const differences = heats
    .map((heat) => mean(logRates(heat, a)) - mean(logRates(heat, b)))
    .filter(Number.isFinite)
  if (differences.length < 2) return null
  const draw = () => differences[Math.floor(random() * differences.length)] ?? Number.NaN
  const draws = Array.from({ length: RESAMPLES }, () => mean(differences.map(draw))).sort((x, y) => x - y)
  const at = (part: number) => Math.exp(draws[Math.round(part * (RESAMPLES - 1))] ?? Number.NaN)
  return { value: Math.exp(mean(differences)), low: at(0.025), high: at(0.975) }
}

/** Of the slices that count, against the mean of all in that heat. */
function logRates({ slices }: Heat, cell: string): number[] {
  const counted = slices.filter(({ disturbed }) => !disturbed)
  const level = mean(counted.map(logRate))
  return counted.filter((slice) => slice.cell === cell).map((slice) => logRate(slice) - level)
}

function logRate({ requests, seconds }: Slice): number {
  return Math.log(requests / seconds)
}
