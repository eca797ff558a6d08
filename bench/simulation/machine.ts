import type { Random } from '@startgrid/stats/random.ts'

/** How fast a core is at each moment, when neighbours that nobody sees share its physical core. */

/**
 * A core is free or shared, each for an exponential time in seconds, and an Ornstein-Uhlenbeck process comes on top of that: its standard deviation and
 * correlation time. All costs are logarithms, above that of a free core.
 */
export interface Speed {
  shared: number
  free: number
  cost: number
  sd: number
  seconds: number
}

/** The cost that a long run sees on average. */
export function averageCost({ cost, shared, free }: Speed): number {
  return (cost * shared) / (shared + free)
}

/** Seconds between the points at which a core's speed is drawn. */
const STEP = 0.004

/** Draws from the distributions that a machine needs. */
export interface Draw {
  /** Standard normal (Box and Muller 1958). */
  normal(): number
  /** With mean 1. */
  exponential(): number
  uniform(from: number, to: number): number
  chance(part: number): boolean
}

export function createDraw(random: Random): Draw {
  // `random` may give 0, which has no logarithm.
  const log = () => Math.log(1 - random())
  return {
    normal: () => Math.sqrt(-2 * log()) * Math.cos(2 * Math.PI * random()),
    exponential: () => -log(),
    uniform: (from, to) => from + (to - from) * random(),
    chance: (part) => random() < part,
  }
}

/** One core from time 0 on. */
export class Core {
  readonly #next: () => number
  /** The sum of all steps up to here: the mean of a stretch is a difference. */
  readonly #sums: number[] = [0]

  constructor(speed: Speed, draw: Draw) {
    this.#next = stepper(speed, draw)
  }

  /** The mean log cost from one time to another, in seconds. */
  cost(from: number, to: number): number {
    const first = Math.floor(from / STEP)
    const last = Math.max(first + 1, Math.round(to / STEP))
    while (this.#sums.length <= last) this.#sums.push((this.#sums.at(-1) ?? 0) + this.#next())
    return ((this.#sums[last] ?? 0) - (this.#sums[first] ?? 0)) / (last - first)
  }
}

function stepper(speed: Speed, draw: Draw): () => number {
  const again = Math.exp(-STEP / speed.seconds)
  const change = speed.sd * Math.sqrt(1 - again * again)
  let level = speed.sd * draw.normal()
  const { shared, free, cost } = speed
  let isShared = draw.chance(shared / (shared + free))
  let left = draw.exponential() * (isShared ? shared : free)
  return () => {
    if (left <= 0) {
      isShared = !isShared
      left = draw.exponential() * (isShared ? shared : free)
    }
    left -= STEP
    const now = (isShared ? cost : 0) + level
    level = again * level + change * draw.normal()
    return now
  }
}
