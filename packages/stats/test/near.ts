import assert from 'node:assert/strict'
import type { Random } from '../src/random.ts'

/** Fails unless both agree to this part of the expected value (or, near 0, to this absolute distance). */
export function near(actual: number | null | undefined, expected: number, tolerance = 1e-9): void {
  const distance = tolerance * Math.max(1, Math.abs(expected))
  assert.ok(
    actual !== null && actual !== undefined && Math.abs(actual - expected) <= distance,
    `${actual} is not ${expected}`,
  )
}

/** A draw from the standard normal distribution (Box and Muller 1958). */
export function drawNormal(random: Random): number {
  // `random` may give 0, which has no logarithm.
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
