import type { Claim, Step } from '../src/result/experiment.ts'

/** What a source printed of two systems, by their names. */
type Printed = Readonly<Record<string, number>>

/** Makes claims of a race: its source printed two figures, and the ratio is that of the first system over the second. */
export function claimsOf(race: string, metric: Claim['metric']) {
  return (id: string, says: string, printed: Printed, more: Partial<Claim> = {}): Claim => {
    const [over = '', under = ''] = Object.keys(printed)
    const [ours = Number.NaN, theirs = Number.NaN] = Object.values(printed)
    return { id, says, race, metric, over, under, published: [ours, theirs], ...more }
  }
}

/** The same of requests per second, by the CPU of a request: that of the second system over the first. */
export function claimsOfCost(race: string) {
  return (id: string, says: string, rates: Printed): Claim => {
    const costs = Object.entries(rates).map(([name, rate]) => [name, 1 / rate])
    return claimsOf(race, 'cpu')(id, says, Object.fromEntries(costs.reverse()))
  }
}

export const step = (what: string, race: string, from: string, to: string): Step => ({ what, race, from, to })
