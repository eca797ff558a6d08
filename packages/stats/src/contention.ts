import type { Interval } from './estimate.ts'
import { mean } from './moments.ts'
import { tQuantile } from './student.ts'

/**
 * How throughput grows with the number of workers: the Universal Scalability Law (Gunther 2007, Guerrilla Capacity Planning, chapter
 * 4), C(N) = N / (1 + σ (N - 1) + κ N (N - 1)).
 */

/** One throughput, measured with so many workers. */
export interface ScalingPoint {
  /** A whole number from 1. Those above the number of cores measure the machine, not the law: leave them out. */
  workers: number
  /** In any unit. */
  rate: number
}

export interface Contention {
  /** σ, contention: the part of the work that is done by one worker at a time. Below 0 where throughput grew faster than workers did. */
  sigma: Interval
  /** κ, coherency: what each worker costs each other one; above 0, throughput falls again beyond some number of workers. */
  kappa: Interval
  /** Where throughput is highest, by the law; at least 1. Null unless κ is shown to be above 0. */
  peakWorkers: number | null
  /** Standard deviation of the logarithms of rates around the curve; null without a degree of freedom. */
  residual: number | null
}

/** Why no curve can be fitted, as a sentence. */
export interface NoContention {
  missing: string
}

const ENOUGH_COUNTS = 3
const MOST_STEPS = 200

/** Points that were measured together, such as in one heat: they share a level. */
export type Series = readonly (readonly ScalingPoint[])[]

/** σ and κ. */
type Coefficients = readonly [sigma: number, kappa: number]

/** C(N) of the law. */
export function scalingFactor(workers: number, sigma: number, kappa: number): number {
  return workers / denominator(workers, [sigma, kappa])
}

/**
 * Fits the law to the ratios within each series by least squares on their logarithms, as everywhere in this benchmark. A series is what
 * was measured together, such as one heat: it has a level of its own, so no point of it, not even that of one worker, is taken as exact.
 * Intervals are 95 %, t, by the delta method (Seber and Wild 1989, Nonlinear Regression, section 5.1); their ends are null without a degree of
 * freedom.
 * @throws {RangeError} if a number of workers is not a whole number from 1, or a rate not above 0
 */
export function fitContention(series: Series): Contention | NoContention {
  const counts = countsIn(series)
  if (counts.length < ENOUGH_COUNTS) return { missing: tooFew(counts) }
  if (normalEquations(series, [0, 0]).determinant === 0)
    return { missing: 'No series has enough numbers of workers to tell contention from coherency.' }
  const fitted = descend(series, [0, 0])
  // At the edge, where the law's throughput is 0, the derivatives are not independent.
  if (fitted === undefined || normalEquations(series, fitted).determinant === 0)
    return { missing: 'No curve of the Universal Scalability Law comes near these rates.' }
  return describe(series, fitted)
}

/** @throws {RangeError} */
function countsIn(series: Series): number[] {
  for (const { workers, rate } of series.flat()) {
    if (!Number.isInteger(workers) || workers < 1) throw new RangeError(`${workers} workers`)
    if (!(rate > 0) || !Number.isFinite(rate)) throw new RangeError(`a rate of ${rate}`)
  }
  return [...new Set(series.flat().map(({ workers }) => workers))].sort((a, b) => a - b)
}

function tooFew(counts: readonly number[]): string {
  const found = counts.length === 0 ? 'none' : `${counts.length} (${counts.join(' and ')})`
  return `Two coefficients need at least ${ENOUGH_COUNTS} numbers of workers, each with a core of its own; there are ${found}.`
}

/** Gauss-Newton, with steps halved until they help. Undefined if it does not settle. */
function descend(series: Series, from: Coefficients): Coefficients | undefined {
  let best = from
  let error = squares(series, best)
  for (let step = 0; step < MOST_STEPS; step++) {
    const [towardsSigma, towardsKappa] = solve(normalEquations(series, best))
    let part = 1
    let next = best
    let nextError = Number.POSITIVE_INFINITY
    for (; part > 1e-10 && !(nextError <= error); part /= 2) {
      next = [best[0] + part * towardsSigma, best[1] + part * towardsKappa]
      nextError = squares(series, next)
    }
    if (!(nextError <= error)) return best
    const moved = Math.abs(next[0] - best[0]) + Math.abs(next[1] - best[1])
    best = next
    error = nextError
    if (moved < 1e-13) return best
  }
  return undefined
}

function describe(series: Series, [sigma, kappa]: Coefficients): Contention {
  const equations = normalEquations(series, [sigma, kappa])
  const used = series.filter(({ length }) => length > 0)
  const df = used.flat().length - used.length - 2
  const residual = df > 0 ? Math.sqrt(squares(series, [sigma, kappa]) / df) : null
  const interval = (value: number, inverseDiagonal: number): Interval => {
    if (residual === null) return { value, low: null, high: null }
    const halfWidth = tQuantile(0.975, df) * residual * Math.sqrt(inverseDiagonal)
    return { value, low: value - halfWidth, high: value + halfWidth }
  }
  const { ss, kk, determinant } = equations
  const shown = interval(kappa, ss / determinant)
  const falls = shown.low !== null && shown.low > 0
  return {
    sigma: interval(sigma, kk / determinant),
    kappa: shown,
    peakWorkers: falls ? Math.sqrt(Math.max(1, (1 - sigma) / kappa)) : null,
    residual,
  }
}

/** J'J and J'r of the residuals within series; `s` for σ, `k` for κ, `r` for the residual. */
interface NormalEquations {
  ss: number
  sk: number
  kk: number
  sr: number
  kr: number
  determinant: number
}

function normalEquations(series: Series, at: Coefficients): NormalEquations {
  const sums = { ss: 0, sk: 0, kk: 0, sr: 0, kr: 0 }
  for (const points of series) {
    const r = centre(points.map((point) => logResidual(point, at)))
    // Derivatives of log C(N).
    const s = centre(points.map(({ workers }) => -(workers - 1) / denominator(workers, at)))
    const k = centre(points.map(({ workers }) => (-workers * (workers - 1)) / denominator(workers, at)))
    sums.ss += dot(s, s)
    sums.sk += dot(s, k)
    sums.kk += dot(k, k)
    sums.sr += dot(s, r)
    sums.kr += dot(k, r)
  }
  const { ss, sk, kk } = sums
  const determinant = ss * kk - sk * sk
  // Columns that are multiples of each other leave a rounding error.
  return { ...sums, determinant: determinant > 1e-12 * ss * kk ? determinant : 0 }
}

function solve({ ss, sk, kk, sr, kr, determinant }: NormalEquations): Coefficients {
  if (determinant === 0) return [0, 0]
  return [(kk * sr - sk * kr) / determinant, (ss * kr - sk * sr) / determinant]
}

/** Sum of squares within series; infinite where the law has no positive throughput. */
function squares(series: Series, at: Coefficients): number {
  if (series.flat().some(({ workers }) => !(denominator(workers, at) > 0))) return Number.POSITIVE_INFINITY
  return series.reduce((sum, points) => {
    const r = centre(points.map((point) => logResidual(point, at)))
    return sum + dot(r, r)
  }, 0)
}

function logResidual({ workers, rate }: ScalingPoint, at: Coefficients): number {
  return Math.log(rate) - Math.log(workers) + Math.log(denominator(workers, at))
}

function denominator(workers: number, [sigma, kappa]: Coefficients): number {
  return 1 + sigma * (workers - 1) + kappa * workers * (workers - 1)
}

function centre(values: readonly number[]): number[] {
  const level = mean(values)
  return values.map((value) => value - level)
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}
