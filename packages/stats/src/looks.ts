import { findRoot, normalCdf } from './student.ts'

/**
 * A comparison that is looked at while it grows (Lan and DeMets 1983, Biometrika 70:659). Each look spends a part of the level, and its interval is as
 * much wider: all of them together hold the truth (repeated confidence intervals, Jennison and Turnbull 1989, JRSS B 51:305).
 */

/** The first after so many starts, then after twice as many as before, and the last at the end. */
export function planLooks(first: number, most: number): number[] {
  const looks: number[] = []
  // Just before the end, a look would cost more than it saves.
  for (let starts = first; 1.5 * starts < most; starts *= 2) looks.push(starts)
  return [...looks, most]
}

/** Simpson's rule. */
const STEPS = 200

/**
 * The two-sided level of a look, which leaves the other looks their parts: √(starts / most) of the level is spent by then (Kim and DeMets 1987). It was
 * chosen by simulation (docs/method.md).
 * @param planned in order; none: there is one look, at the end
 * @param starts one that was not planned is the end, which time decides and never the result: it spends what is left
 */
export function levelAt(planned: readonly number[], starts: number, level: number): number {
  const most = planned.at(-1) ?? starts
  const spentAt = (look: number) => (planned.includes(look) ? level * Math.sqrt(look / most) : level)
  let [before, spent] = [0, 0]
  let bound = Number.POSITIVE_INFINITY
  /** Sums of standard normal values at the look before that were not beyond its bound, with their weights. */
  let inside: { sum: number; weight: number }[] = [{ sum: 0, weight: 1 }]
  for (const look of [...planned.filter((one) => one < starts), starts]) {
    const sd = Math.sqrt(look - before)
    const beyond = (z: number) => {
      const end = z * Math.sqrt(look)
      const part = ({ sum }: { sum: number }) => normalCdf((-end - sum) / sd) + normalCdf((sum - end) / sd)
      return inside.reduce((total, one) => total + one.weight * part(one), 0)
    }
    const wanted = spentAt(look) - spent
    bound = findRoot((z) => beyond(z) - wanted, 0, 8)
    const end = bound * Math.sqrt(look)
    const previous = inside
    inside = Array.from({ length: STEPS + 1 }, (_, index) => {
      const sum = end * ((2 * index) / STEPS - 1)
      const density = previous.reduce(
        (total, one) => total + one.weight * Math.exp(-(((sum - one.sum) / sd) ** 2) / 2),
        0,
      )
      const simpson = index === 0 || index === STEPS ? 1 : 2 + 2 * (index % 2)
      return { sum, weight: (density / sd / Math.sqrt(2 * Math.PI)) * simpson * ((2 * end) / STEPS / 3) }
    })
    ;[before, spent] = [look, spentAt(look)]
  }
  return 2 * normalCdf(-bound)
}
