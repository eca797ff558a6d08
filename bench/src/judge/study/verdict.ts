import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Verdict } from '../../model/figures.ts'

/** A ratio holds if its interval lies within these parts of the published one. */
const SIZE = { low: 0.8, high: 1.25 }

/** A published ratio within these says that there is no effect. */
const SAYS_NO_EFFECT = { low: 0.95, high: 1.05 }

/** No effect is shown if the interval lies within these. */
const NO_EFFECT = { low: 0.9, high: 1.1 }

export function saysNoEffect(published: number): boolean {
  return published >= SAYS_NO_EFFECT.low && published <= SAYS_NO_EFFECT.high
}

/**
 * The verdict from the 95 % interval of our ratio, the first that fits:
 * - *holds*: it lies within 0.8 to 1.25 times the published ratio
 * - *direction holds, size differs*: it lies on the published side of 1, and outside of that band
 * - *direction holds, size undecided*: it lies on the published side of 1, and partly within that band
 * - *not reproduced here*: it lies on the other side of 1
 * - *undecided here*: none of these, or there is no interval
 *
 * A claim of no effect holds if the interval lies within 0.9 to 1.1, and is not reproduced if none of it does.
 * @param published above 0
 */
export function decide(ratio: Interval, published: number): Verdict {
  const { low, high } = ratio
  if (low === null || high === null) return 'undecided here'
  if (saysNoEffect(published)) {
    if (low >= NO_EFFECT.low && high <= NO_EFFECT.high) return 'holds'
    return low > NO_EFFECT.high || high < NO_EFFECT.low ? 'not reproduced here' : 'undecided here'
  }
  const [least, most] = [SIZE.low * published, SIZE.high * published]
  if (low >= least && high <= most) return 'holds'
  if (isBeyondOne(low, high, published))
    return high < least || low > most ? 'direction holds, size differs' : 'direction holds, size undecided'
  return isBeyondOne(low, high, 1 / published) ? 'not reproduced here' : 'undecided here'
}

/** Whether the whole interval is on the same side of 1 as the ratio. */
function isBeyondOne(low: number, high: number, ratio: number): boolean {
  return ratio > 1 ? low > 1 : ratio < 1 && high < 1
}
