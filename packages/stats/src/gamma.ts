/** The gamma function and its logarithmic derivatives, for positive arguments. */

/** Logarithm of the gamma function: Lanczos approximation with g = 7 and 9 terms (Godfrey 2001), 15 digits for x > 0. */
export function logGamma(x: number): number {
  let series = 0.99999999999980993
  LANCZOS.forEach((term, index) => {
    series += term / (x + index)
  })
  const shifted = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(shifted) - shifted + Math.log(series)
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

/** From here on the asymptotic series are good to 14 digits. */
const ASYMPTOTIC = 12

/** ψ(x), the derivative of log Γ, for x > 0: recurrence (DLMF 5.5.2) up to where the series (DLMF 5.11.2) is exact. */
export function digamma(x: number): number {
  let sum = 0
  let y = x
  for (; y < ASYMPTOTIC; y++) sum -= 1 / y
  const z = 1 / (y * y)
  const series =
    z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - (z * 691) / 32760)))))
  return sum + Math.log(y) - 1 / (2 * y) - series
}

/** ψ′(x) for x > 0: recurrence (DLMF 5.15.5) up to where the series (DLMF 5.15.8) is exact. */
export function trigamma(x: number): number {
  let sum = 0
  let y = x
  for (; y < ASYMPTOTIC; y++) sum += 1 / (y * y)
  const z = 1 / (y * y)
  const series = z * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * (5 / 66 - (z * 691) / 2730)))))
  return sum + 1 / y + z / 2 + series / y
}

/** ψ″(x) for x > 0: the derivative of what `trigamma` sums. */
function tetragamma(x: number): number {
  let sum = 0
  let y = x
  for (; y < ASYMPTOTIC; y++) sum -= 2 / (y * y * y)
  const z = 1 / (y * y)
  const series = z * (1 / 2 - z * (1 / 6 - z * (1 / 6 - z * (3 / 10 - z * (5 / 6 - (z * 691) / 210)))))
  return sum - z - z / y - z * series
}

/**
 * The x > 0 with ψ′(x) = y: Newton's method on 1/ψ′, which is convex and nearly linear, so that it converges from 1/2 + 1/y without
 * overshooting (Smyth 2004, appendix).
 */
export function trigammaInverse(y: number): number {
  // Beyond these ends, ψ′(x) is 1/x² and 1/x to the precision that matters.
  if (y > 1e7) return 1 / Math.sqrt(y)
  if (y < 1e-6) return 1 / y
  let x = 0.5 + 1 / y
  for (let step = 0; step < 50; step++) {
    const value = trigamma(x)
    const change = (value * (1 - value / y)) / tetragamma(x)
    x += change
    if (-change / x < 1e-12) break
  }
  return x
}
