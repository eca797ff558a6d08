import { fitPrior, squeeze } from './moderation.ts'
import { mean, median } from './moments.ts'
import { holm } from './multiplicity.ts'
import { tTwoSided } from './student.ts'
import type { Variance } from './two-way.ts'

/** Did the first slices after a launch cost more than later ones? A test with an error rate, for all cells of a run at once. */

/** One measured slice of a launch. */
export interface ColdSlice {
  /** How long it lasted. */
  seconds: number
  /** Logarithm of its cost without its cell and its pass: pass-adjusted, not clipped. */
  residual: number
}

/** One cell: the measured slices of each launch, in the order in which they were measured. */
export type WarmupLaunches = readonly (readonly ColdSlice[])[]

export interface WarmupFinding {
  /** What first slices cost over later ones, geometric mean over launches; null if no launch has later ones. */
  ratio: number | null
  /** One-sided, of no more cost; null where nothing can be tested. */
  p: number | null
  /** By Holm's method, over all cells that were tested. */
  pAdjusted: number | null
  /** The first slices cost more: `pAdjusted` is below the level, and the ratio above 1.05. */
  cold: boolean
}

/** A cold server is slow in its first tenths of a second of load. */
const FIRST_SECONDS = 0.2

/** A slice may end a little early, because its clock begins with the first request. */
const ALLOWANCE = 0.95

/** Probability of a false finding among all cells, unless another is given. */
const LEVEL = 0.01

/** Of a cell that was found cold: whether what is left of it still is. */
const AGAIN = 0.2

/** A smaller difference would not matter. */
const LEAST_RATIO = 1.05

/** A single slow slice at the start does not show a cold server, so residuals are clipped at this many standard deviations. */
const CLIP = 3

const MAD_TO_SD = 1.4826

/** How many slices at the beginning add up to 200 ms, at least one: those that the test compares with the rest. */
export function countFirst(slices: readonly Pick<ColdSlice, 'seconds'>[]): number {
  let seconds = 0
  for (const [index, slice] of slices.entries()) {
    seconds += slice.seconds
    if (seconds >= FIRST_SECONDS * ALLOWANCE) return index + 1
  }
  return Math.max(1, slices.length)
}

/**
 * Tests every cell: the mean of the first slices less the mean of the rest, by launch, and then their mean over launches. The variance comes
 * from the later slices within launches, moderated over cells (Smyth 2004), so that a noisy cell is judged by its own noise.
 * @param cells launches that are pooled must have had the same warm-up; otherwise they are entered as cells of their own
 * @param level of a false finding among all cells. A run that looks after every heat should lower it from look to look, such as 1 % divided by their number
 * @returns a finding per cell, in the order given
 */
export function testWarmup(cells: readonly WarmupLaunches[], level: number = LEVEL): WarmupFinding[] {
  const contrasts = cells.map(contrastOf)
  const prior = priorOf(contrasts)
  const ps = contrasts.map((one) => pOf(one, prior))
  const tested = ps.flatMap((p, index) => (p === null ? [] : [index]))
  const adjusted = holm(tested.map((index) => ps[index] ?? 1))
  return contrasts.map((one, index) => {
    const place = tested.indexOf(index)
    const pAdjusted = place < 0 ? null : (adjusted[place] ?? null)
    const ratio = one === null ? null : Math.exp(one.raw)
    const cold = pAdjusted !== null && pAdjusted < level && (ratio ?? 0) > LEAST_RATIO
    return { ratio, p: ps[index] ?? null, pAdjusted, cold }
  })
}

/** What to do about a cell. */
export interface ColdStart extends WarmupFinding {
  /** Per launch, how many of its first slices must not count; 0 for a cell that is not cold. */
  drop: number[]
  /** False if nothing is left, or if what was left was still getting cheaper at its end. */
  steady: boolean
}

/**
 * Tests every cell, and says which slices of a cold cell to drop: the first 200 ms, and 200 ms more while the rest is still cold. The
 * cell was already found cold at this level among all cells, so a p-value below 20 % is enough to continue.
 * @param cells as for `testWarmup`
 * @param level as for `testWarmup`
 */
export function findColdStarts(cells: readonly WarmupLaunches[], level: number = LEVEL): ColdStart[] {
  const prior = priorOf(cells.map(contrastOf))
  return testWarmup(cells, level).map((finding, index) => {
    const launches = cells[index] ?? []
    const drop = launches.map(() => 0)
    if (!finding.cold) return { ...finding, drop, steady: true }
    for (let isFirst = true; ; isFirst = false) {
      for (const [launch, slices] of launches.entries()) {
        const dropped = drop[launch] ?? 0
        drop[launch] = Math.min(slices.length, dropped + countFirst(slices.slice(dropped)))
      }
      const p = pOf(contrastOf(launches.map((slices, launch) => slices.slice(drop[launch]))), prior)
      // In a short run the first slices are most of them: what is left after these may be too little to test.
      const isLeft = launches.some((slices, launch) => slices.length > (drop[launch] ?? 0))
      if (p === null || p >= AGAIN) return { ...finding, drop, steady: p === null ? isFirst && isLeft : true }
    }
  })
}

/** Null where no cell tells how slices vary. */
function priorOf(contrasts: readonly (Contrast | null)[]): Variance | null {
  const observed = contrasts.flatMap((one) => (one !== null && one.df > 0 ? [one] : []))
  return observed.length === 0 ? null : fitPrior(observed)
}

/** One-sided; null where nothing can be tested. */
function pOf(contrast: Contrast | null, prior: Variance | null): number | null {
  if (contrast === null || prior === null) return null
  const { clipped, load } = contrast
  const { variance, df } = contrast.df > 0 ? squeeze(contrast, prior) : prior
  const standardError = Math.sqrt(variance * load)
  if (standardError === 0) return clipped > 0 ? 0 : 1
  const tail = tTwoSided(clipped / standardError, Math.min(df, MOST_DF)) / 2
  return clipped > 0 ? tail : 1 - tail
}

/** Beyond this, Student's t is the normal distribution. */
const MOST_DF = 1e6

interface Contrast {
  /** First less later residuals, mean over launches; clipped ones decide, the others say how much. */
  raw: number
  clipped: number
  /** The variance of the mean is this times the variance of a slice. */
  load: number
  /** Of a slice, from later ones within launches. */
  variance: number
  df: number
}

/** Null if no launch has both first and later slices. */
function contrastOf(launches: WarmupLaunches): Contrast | null {
  const parts = launches.flatMap((slices) => {
    const count = countFirst(slices)
    const residuals = slices.map(({ residual }) => residual)
    return slices.length > count ? [{ first: residuals.slice(0, count), later: residuals.slice(count) }] : []
  })
  if (parts.length === 0) return null
  const centred = parts.map(({ first, later }) => {
    const centre = median(later)
    return { first: first.map((one) => one - centre), later: later.map((one) => one - centre) }
  })
  const df = centred.reduce((sum, { later }) => sum + later.length - 1, 0)
  const limit =
    df === 0
      ? Number.POSITIVE_INFINITY
      : CLIP *
        scaleOf(
          centred.flatMap(({ later }) => later),
          df,
        )
  const clip = (values: readonly number[]) => values.map((one) => Math.max(-limit, Math.min(limit, one)))
  const clipped = centred.map(({ first, later }) => ({ first: clip(first), later: clip(later) }))
  const squares = clipped.reduce((sum, { later }) => {
    const centre = mean(later)
    return sum + later.reduce((own, one) => own + (one - centre) ** 2, 0)
  }, 0)
  const difference = ({ first, later }: (typeof centred)[number]) => mean(first) - mean(later)
  const load = parts.reduce((sum, { first, later }) => sum + 1 / first.length + 1 / later.length, 0)
  return {
    raw: mean(centred.map(difference)),
    clipped: mean(clipped.map(difference)),
    load: load / parts.length ** 2,
    variance: df === 0 ? 0 : squares / df,
    df,
  }
}

/** Robust standard deviation of values less the median of their launch. */
function scaleOf(values: readonly number[], df: number): number {
  return MAD_TO_SD * median(values.map(Math.abs)) * Math.sqrt(values.length / df)
}
