/** An interval this small, as a part of its end, is a point: a double has 16 digits. */
const CLOSE = 1e-14

/**
 * Where a continuous function is zero, between two places with values of opposite sign: regula falsi with halved weights (the Illinois method, Dowell and
 * Jarratt 1971, BIT 11:168). Smooth functions take about ten evaluations, where halving takes fifty.
 */
export function findRoot(valueAt: (x: number) => number, low: number, high: number): number {
  let [a, b] = [low, high]
  let [left, right] = [valueAt(a), valueAt(b)]
  if (left === 0) return a
  for (let step = 0; step < 200 && right !== 0; step++) {
    const x = b - (right * (b - a)) / (right - left)
    const value = valueAt(x)
    if (Math.abs(x - b) <= CLOSE * Math.abs(x)) return x
    if (Math.sign(value) === Math.sign(right)) left /= 2
    else [a, left] = [b, right]
    ;[b, right] = [x, value]
  }
  return b
}
