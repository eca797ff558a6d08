import { type Interval, meanInterval } from '@startgrid/stats/estimate.ts'
import { sum } from '@startgrid/stats/moments.ts'
import type { Commit, Since, SinceStep, Start } from '../result/figures.ts'
import type { Result } from '../result/result.ts'
import { judgeCells, type Launch, type Measured } from './launches.ts'

/**
 * Since which commit: a change point in a history, with a normal likelihood. A commit is like the good end, like the bad one, or between them where the
 * change came in two steps.
 */

/** Commits that together have this much are the answer. */
const SURE = 0.95
/** One whose place is known so well is not raced any more: where two neighbours differ, 95 % are left for the step between them. */
const SETTLED = 0.975
/** Before anything is measured, it came in two steps with this probability. */
const TWO = 0.1
/** So much of the difference is there between two steps: outside of 0 and 1, one takes back some of the other. */
const LEVELS = [-0.5, 0.3, 0.4, 0.5, 0.6, 0.7, 1.5]

/** How probable it is that a change came with each commit: the only one, or the first or the second of two. */
interface Posterior {
  only: number[]
  first: number[]
  second: number[]
}

function posteriorOf(commits: readonly Commit[]): Posterior {
  const count = commits.length
  const likelihood = likelihoodOf(commits)
  // No race tells commits apart that have none between them, so they share what is known.
  const ends = [...commits.keys()].filter((index) => commits[index]?.starts.length || index === count - 1)
  const sizes = ends.map((end, index) => end - (ends[index - 1] ?? -1))
  const found = sizes.flatMap((size, first) =>
    sizes.slice(first).flatMap((other, more) => {
      const priors =
        more === 0
          ? [(1 - TWO) * size]
          : LEVELS.map(() => (2 * TWO * size * other) / (count - 1) / LEVELS.length)
      return priors.map((prior, index) => {
        const log = likelihood(ends[first] ?? 0, ends[first + more] ?? 0, LEVELS[index] ?? 0)
        return { first, second: first + more, log: Math.log(prior) + log }
      })
    }),
  )
  const most = Math.max(...found.map(({ log }) => log))
  const all = sum(found.map(({ log }) => Math.exp(log - most)))
  const spread = (isOf: (one: { first: number; second: number }, segment: number) => boolean) =>
    sizes.flatMap((size, segment) => {
      const own = found.filter((one) => isOf(one, segment)).map(({ log }) => Math.exp(log - most))
      return Array.from({ length: size }, () => sum(own) / all / size)
    })
  return {
    only: spread(({ first, second }, segment) => first === segment && second === segment),
    first: spread(({ first, second }, segment) => first === segment && second > segment),
    second: spread(({ first, second }, segment) => second === segment && first < segment),
  }
}

/** The logarithm, of where one or two steps are. The size of the difference and the noise are not known: both are integrated. */
function likelihoodOf(commits: readonly Commit[]) {
  let [count, squares] = [0, 0]
  const raced = commits.flatMap(({ starts }, index) => {
    let [whole, middle] = [0, 0]
    // Two contrasts that do not correlate, with 2 and 6 times the variance of a start.
    for (const [good, own, bad] of starts) {
      whole += bad - good
      middle += 2 * own - good - bad
      squares += (bad - good) ** 2 / 2 + (2 * own - good - bad) ** 2 / 6
    }
    count += starts.length
    return starts.length === 0 ? [] : { index, starts: starts.length, whole, middle }
  })
  return (first: number, second: number, level: number) => {
    if (count === 0) return 0
    let [size, both] = [0, 0]
    for (const { index, starts, whole, middle } of raced) {
      const place = index >= second ? 1 : index >= first ? level : 0
      size += starts / 2 + (starts * (2 * place - 1) ** 2) / 6
      both += whole / 2 + (middle * (2 * place - 1)) / 6
    }
    return -Math.log(size) / 2 - (count - 0.5) * Math.log(squares - both ** 2 / size)
  }
}

/** The commit of whose place least is known. @returns undefined if the places of all are */
export function nextOf(commits: readonly Commit[]): Commit | undefined {
  const found = posteriorOf(commits)
  const [least] = commits
    .slice(0, -1)
    .flatMap((commit, index) =>
      commit.skipped === undefined ? { commit, sure: placeOf(found, index).sure } : [],
    )
    .sort((one, other) => one.sure - other.sure)
  return least !== undefined && least.sure < SETTLED ? least.commit : undefined
}

/** Whether another commit says more now than this one. */
export function isSettled(commits: readonly Commit[], commit: Commit): boolean {
  return placeOf(posteriorOf(commits), commits.indexOf(commit)).sure >= SETTLED
}

/** Whether a commit is like the good end, like the bad one, or between, and how probable that is. */
function placeOf({ only, first, second }: Posterior, index: number) {
  const upTo = (steps: readonly number[]) => sum(steps.slice(0, index + 1))
  const bad = upTo(only) + upTo(second)
  const between = upTo(first) - upTo(second)
  const places = { good: 1 - bad - between, bad, between }
  const sure = Math.max(...Object.values(places))
  return { ...places, sure }
}

/** What is known of a commit, in words. */
export function describePlace(
  commits: readonly Commit[],
  commit: Commit,
  ends: { good: string; bad: string },
): string {
  if (commit.skipped !== undefined) return `skipped (${commit.skipped})`
  const { good, bad, sure } = placeOf(posteriorOf(commits), commits.indexOf(commit))
  if (sure < SETTLED) return 'not clear yet'
  return sure === good ? `as fast as ${ends.good}` : sure === bad ? `like ${ends.bad}` : 'between them'
}

/** What was found, sure or not. */
export function sinceOf(commits: readonly Commit[]): Since {
  const { only, first, second } = posteriorOf(commits)
  const several = sum(first)
  const stepOf = (steps: readonly number[], change: Interval | null): SinceStep => {
    let left = SURE * sum(steps)
    const set = [...commits.keys()]
      .sort((a, b) => (steps[b] ?? 0) - (steps[a] ?? 0))
      .filter((index) => {
        const isIn = left > 0
        left -= steps[index] ?? 0
        return isIn
      })
    return { set: set.flatMap((index) => commits[index]?.hash ?? []), change }
  }
  const [from = 0, to = 0] = [first, second].map((steps) => steps.indexOf(Math.max(...steps)))
  const [all, between] = [startsIn(commits), startsIn(commits.slice(from, to))]
  const whole = ratioOf(all, 'bad', 'good')
  return {
    commits: commits.map(({ starts, ...commit }, index) => ({
      ...commit,
      ...(index === commits.length - 1
        ? { ratio: whole, starts: all.length }
        : { ratio: ratioOf(starts, 'own', 'good'), starts: starts.length }),
      probability: (only[index] ?? 0) + (first[index] ?? 0) + (second[index] ?? 0),
    })),
    steps:
      several > 0.5
        ? [stepOf(first, ratioOf(between, 'own', 'good')), stepOf(second, ratioOf(between, 'bad', 'own'))]
        : [stepOf(only, whole)],
    several,
  }
}

export function startsIn(commits: readonly Commit[]): Start[] {
  return commits.flatMap(({ starts }) => starts)
}

const PLACES = { good: 0, own: 1, bad: 2 } as const
type Place = keyof typeof PLACES

/** How fast one is as a part of another, with a plain interval; null for fewer than two starts. */
export function ratioOf(starts: readonly Start[], over: Place, under: Place): Interval | null {
  if (starts.length < 2) return null
  const { value, low, high } = meanInterval(starts.map((logs) => logs[PLACES[over]] - logs[PLACES[under]]))
  return { value: Math.exp(value), low: low && Math.exp(low), high: high && Math.exp(high) }
}

/** Of a race of the good end, a commit and the bad end. */
export function startsOf(measured: Pick<Result, keyof Measured | 'analysis'>): Start[] {
  const isRate = measured.analysis?.findings[0]?.decides !== 'cpu'
  const speedOf = (one: Launch | null | undefined) =>
    isRate ? one?.logs.rate : one?.logs.cpu && -one.logs.cpu
  const [good = [], own = [], bad = []] = judgeCells(measured).map((one) =>
    one.void === null ? one.launches.map(speedOf) : [],
  )
  return good.flatMap((a, heat): Start[] => {
    const [b, c] = [own[heat], bad[heat]]
    return a === undefined || b === undefined || c === undefined ? [] : [[a, b, c]]
  })
}
