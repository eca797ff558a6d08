import type { Interval } from '@startgrid/stats/estimate.ts'

/** A search for the commit since which a server is slower or faster, as it is stored. Nobody's name is in it. */
export interface Commit {
  hash: string
  title: string
  /** ISO 8601. */
  date: string
  /** Of heats in which it was raced with both ends. */
  starts: Start[]
  /** Why it could not be raced: a clause. */
  skipped?: string
}

/** Logarithms of what decides: requests per second, or requests per second of CPU. */
export type Start = readonly [good: number, own: number, bad: number]

/** What follows from it. */
export interface Since {
  /** One by one, its speed as a part of the good one's, and how probable it is that a change came with it. */
  commits: (Omit<Commit, 'starts'> & { ratio: Interval | null; starts: number; probability: number })[]
  /** One, or two of which the order is known. */
  steps: Step[]
  /** How probable it is that there is more than one. */
  several: number
}

export interface Step {
  /** Hashes that together have 95 %, the most probable first. */
  set: string[]
  /** Speed after it as a part of that before; null with fewer than two starts. */
  change: Interval | null
}
