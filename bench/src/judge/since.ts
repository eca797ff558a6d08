import { type Interval, meanInterval } from '@startgrid/stats/estimate.ts'
import { mean } from '@startgrid/stats/moments.ts'
import type { Result } from '../result/result.ts'
import type { Commit, Search, Since, Start, Step } from '../result/since.ts'
import { judgeCells, type Launch, type Measured } from './launches.ts'

/**
 * Since which commit: a change point in a history, with a normal likelihood. A commit is like the good end, like the bad one, or between them where the
 * change came in two steps.
 */

/** One commit with this much is the answer. */
const SURE = 0.95
/** From here on, another commit says more than the one that is being raced; one of less doubt is not raced at all. */
const SETTLED = 0.95
const LEAST_DOUBT = 0.01
/** Before anything is measured, it came in two steps with this probability. */
const TWO = 0.1
/** So much of the difference is there between two steps: outside of 0 and 1, one takes back some of the other. */
const LEVELS = [-0.5, 0.3, 0.4, 0.5, 0.6, 0.7, 1.5]
/** Commits differ by so much without a reason, in logarithms. */
const OWN_SD = 0.004

/** How probable it is that a change came with each commit: the only one, or the first or the second of two. */
interface Posterior {
  only: number[]
  first: number[]
  second: number[]
  /** Of two steps. */
  two: number
}

function posteriorOf(search: Search): Posterior {
  const count = search.commits.length
  const fit = likelihoodOf(search)
  // No race tells commits apart that have none between them, so they share what is known.
  const ends = [...new Set([...fit.raced, count - 1])]
  const sizes = ends.map((end, index) => end - (ends[index - 1] ?? -1))
  const found = sizes.flatMap((size, first) => {
    const end = ends[first] ?? 0
    const one = { first, second: -1, log: Math.log(((1 - TWO) * size) / count) + fit.log(end, end, 1) }
    const others = sizes.slice(first + 1).flatMap((other, index) => {
      const second = first + 1 + index
      const prior = (2 * TWO * size * other) / (count * (count - 1)) / LEVELS.length
      return LEVELS.map((level) => {
        return { first, second, log: Math.log(prior) + fit.log(end, ends[second] ?? 0, level) }
      })
    })
    return [one, ...others]
  })
  const most = Math.max(...found.map(({ log }) => log))
  const weights = found.map((one) => ({ ...one, weight: Math.exp(one.log - most) }))
  const all = sumOf(weights.map(({ weight }) => weight))
  const spread = (segmentOf: (one: (typeof weights)[number]) => number) => {
    const parts = sizes.map((size, segment) => {
      const own = weights.filter((one) => segmentOf(one) === segment)
      return { size, part: sumOf(own.map(({ weight }) => weight)) / all / size }
    })
    return parts.flatMap(({ size, part }) => Array.from({ length: size }, () => part))
  }
  const only = spread(({ first, second }) => (second < 0 ? first : -1))
  const first = spread(({ first, second }) => (second < 0 ? -1 : first))
  return { only, first, second: spread(({ second }) => second), two: sumOf(first) }
}

/** Of where one or two steps are. The size of the difference and the noise are not known: both are integrated. */
function likelihoodOf({ commits, raced }: Search) {
  let [squares, df] = [0, 0]
  const places = commits.flatMap(({ hash }, index) => {
    const starts = raced.flatMap((one) => (one.hash === hash ? one.starts : []))
    if (starts.length < 2) return []
    const own = mean(starts.map(([good, mine]) => mine - good))
    const bad = mean(starts.map(([good, , end]) => end - good))
    for (const [good, mine, end] of starts) squares += squareOf(mine - good - own, end - good - bad)
    df += 2 * (starts.length - 1)
    return { index, n: starts.length, own, bad }
  })
  const log = (first: number, second: number, level: number) => {
    let [size, both, rest] = [0, 0, squares]
    for (const { index, n, own, bad } of places) {
      const place = index >= second ? 1 : index >= first ? level : 0
      const variance = 2 + (n * OWN_SD ** 2 * df) / squares
      const [expected, seen] = [squareOf(place, 1, variance), squareOf(own, bad, variance)]
      size += n * expected
      rest += n * seen
      both += (n * (squareOf(place + own, 1 + bad, variance) - expected - seen)) / 2
    }
    if (places.length === 0) return 0
    return -Math.log(size) / 2 - ((df + 2 * places.length - 1) / 2) * Math.log(rest - both ** 2 / size)
  }
  return { raced: places.map(({ index }) => index), log }
}

/** Of differences to one start, in the variance of a start. @param variance of the first; the second has 2, and they share 1 */
function squareOf(own: number, bad: number, variance = 2): number {
  return (2 * own ** 2 - 2 * own * bad + variance * bad ** 2) / (2 * variance - 1)
}

/** The commit that halves what is left. @returns undefined if it is known, or no race would tell more */
export function nextOf(search: Search): Commit | undefined {
  const found = posteriorOf(search)
  if (isKnown(found)) return undefined
  const doubts = search.commits.slice(0, -1).flatMap((commit, index) => {
    const { good, bad, between } = likeness(found, index)
    const halves = (steps: readonly number[]) => {
      const before = sumOf(steps.slice(0, index + 1)) / sumOf(steps)
      return Math.min(before, 1 - before)
    }
    const doubt =
      found.two > 0.5
        ? Math.max(halves(found.first), halves(found.second))
        : Math.max(Math.min(good, bad) / (good + bad), between)
    return commit.skipped === undefined ? [{ commit, doubt }] : []
  })
  const [best] = doubts.sort((one, other) => other.doubt - one.doubt)
  return best !== undefined && best.doubt >= LEAST_DOUBT ? best.commit : undefined
}

/** Whether another commit says more now than this one. */
export function isSettled(search: Search, { hash }: Commit): boolean {
  const found = posteriorOf(search)
  const index = search.commits.findIndex((one) => one.hash === hash)
  return isKnown(found) || Math.max(...Object.values(likeness(found, index))) >= SETTLED
}

function isKnown({ only, first, second }: Posterior): boolean {
  return Math.max(...only) >= SURE || Math.min(Math.max(...first), Math.max(...second)) >= SURE
}

/** How probable it is that a commit is like the good end, like the bad one, or between. */
function likeness({ only, first, second }: Posterior, index: number) {
  const upTo = (steps: readonly number[]) => sumOf(steps.slice(0, index + 1))
  const bad = upTo(only) + upTo(second)
  const between = upTo(first) - upTo(second)
  return { good: 1 - bad - between, bad, between }
}

/** What is known of a commit, in words. */
export function describePlace(
  search: Search,
  { hash, skipped }: Commit,
  ends: { good: string; bad: string },
): string {
  if (skipped !== undefined) return `skipped (${skipped})`
  const index = search.commits.findIndex((one) => one.hash === hash)
  const { good, bad, between } = likeness(posteriorOf(search), index)
  if (Math.max(good, bad, between) < SETTLED) return 'not clear yet'
  return good >= SETTLED ? `as fast as ${ends.good}` : bad >= SETTLED ? `like ${ends.bad}` : 'between them'
}

/** What was found, sure or not. */
export function sinceOf(search: Search): Since {
  const { only, first, second, two } = posteriorOf(search)
  const commits = search.commits.map((commit, index) => {
    const starts = search.raced.flatMap((one) => (one.hash === commit.hash ? one.starts : []))
    const probability = (only[index] ?? 0) + (first[index] ?? 0) + (second[index] ?? 0)
    return { ...commit, ratio: ratioOf(starts.map(([good, own]) => own - good)), starts, probability }
  })
  const stepOf = (steps: readonly number[], changes: readonly number[]): Step => {
    const order = [...steps.keys()].sort((a, b) => (steps[b] ?? 0) - (steps[a] ?? 0))
    let left = SURE * sumOf(steps)
    const set = order.filter((index) => {
      const isIn = left > 0
      left -= steps[index] ?? 0
      return isIn
    })
    return { set: set.flatMap((index) => commits[index]?.hash ?? []), change: ratioOf(changes) }
  }
  const all = commits.flatMap(({ starts }) => starts)
  const [from = 0, to = 0] = [first, second].map((steps) => steps.indexOf(Math.max(...steps)))
  const between = commits.slice(from, to).flatMap(({ starts }) => starts)
  const whole = all.map(([good, , bad]) => bad - good)
  const last = commits.at(-1)
  if (last !== undefined) last.ratio = ratioOf(whole)
  const [before, after] = [between.map(([good, own]) => own - good), between.map(([, own, bad]) => bad - own)]
  return {
    commits: commits.map((one) => ({ ...one, starts: one.starts.length })),
    steps: two > 0.5 ? [stepOf(first, before), stepOf(second, after)] : [stepOf(only, whole)],
    several: two,
  }
}

/** With a plain interval; null for fewer than two starts. */
function ratioOf(logs: readonly number[]): Interval | null {
  if (logs.length < 2) return null
  const { value, low, high } = meanInterval(logs)
  return { value: Math.exp(value), low: low && Math.exp(low), high: high && Math.exp(high) }
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0)
}

/** Of a race of the good end, a commit and the bad end. */
export function startsOf(measured: Pick<Result, keyof Measured | 'analysis'>): Start[] {
  const [good = [], own = [], bad = []] = judgeCells(measured).map((one) =>
    one.void === null ? one.launches : [],
  )
  const isRate = measured.analysis?.findings[0]?.decides !== 'cpu'
  const speedOf = (one: Launch | null | undefined) =>
    isRate ? one?.logs.rate : one?.logs.cpu && -one.logs.cpu
  return good.flatMap((one, heat): Start[] => {
    const [a, b, c] = [one, own[heat], bad[heat]].map(speedOf)
    return a === undefined || b === undefined || c === undefined ? [] : [[a, b, c]]
  })
}
