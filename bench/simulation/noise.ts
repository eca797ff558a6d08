import type { Random } from '@startgrid/stats/random.ts'

/** Draws from the distributions that the model needs. */
export interface Noise {
  /** Standard normal (Box and Muller 1958). */
  normal(): number
  /** With mean 1. */
  exponential(): number
  uniform(from: number, to: number): number
  chance(part: number): boolean
}

export function createNoise(random: Random): Noise {
  // `random` may give 0, which has no logarithm.
  const log = () => Math.log(1 - random())
  return {
    normal: () => Math.sqrt(-2 * log()) * Math.cos(2 * Math.PI * random()),
    exponential: () => -log(),
    uniform: (from, to) => from + (to - from) * random(),
    chance: (part) => random() < part,
  }
}
