import assert from 'node:assert/strict'

/** Fails unless both agree to this part of the expected value (or, near 0, to this absolute distance). */
export function near(actual: number | null | undefined, expected: number, tolerance = 1e-9): void {
  const distance = tolerance * Math.max(1, Math.abs(expected))
  assert.ok(
    actual !== null && actual !== undefined && Math.abs(actual - expected) <= distance,
    `${actual} is not ${expected}`,
  )
}
