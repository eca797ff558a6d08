import type { Random } from '../src/random.ts'

/** A draw from the standard normal distribution (Box and Muller 1958). */
export function drawNormal(random: Random): number {
  // `random` may give 0, which has no logarithm.
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
