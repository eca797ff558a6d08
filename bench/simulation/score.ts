import type { World } from './world.ts'

/** What the findings of many runs are worth, given what is true. */

export const METRICS = ['rate', 'cpu'] as const
export type Metric = (typeof METRICS)[number]

/** A comparison of two cells, as the method states it. */
export interface Ratio {
  /** Cells: the one, over the other. */
  a: string
  b: string
  metric: Metric
  /** Of the ratio; null where there is none. */
  low: number | null
  high: number | null
  /** Two-sided, of no difference; null where there is none. */
  p: number | null
}

/** All that a run says. */
export interface Findings {
  /** Of every app to the baseline of its race. */
  ratios: Ratio[]
  /** All pairs of a race; `p` is adjusted. */
  pairs: (Ratio & { race: string })[]
  /** The A/A control: the twin over its original. */
  twins: Ratio[]
  /** Cells without a number. */
  voided: string[]
}

/** How often something happened. */
export class Share {
  happened = 0
  count = 0

  add(happened: boolean): void {
    this.count += 1
    if (happened) this.happened += 1
  }

  /** A part of 1; NaN if it was never asked. */
  get part(): number {
    return this.happened / this.count
  }
}

/** Of one metric. */
export class MetricScore {
  /** Intervals of ratios to the baseline that hold the truth of the machine as it was. */
  readonly coverage = new Share()
  /** The same for the truth of a free core. */
  readonly coverageFree = new Share()
  /** The same of all pairs: without the app whose launches differ more, and with it. */
  readonly pairs = { even: new Share(), uneven: new Share() }
  /** Twins that differ at p < 0.05. */
  readonly twins = new Share()
  /** Races of equal apps in which some pair differs. */
  readonly falseRaces = new Share()
  /** Pairs of unequal apps that are decided, and those that are decided the wrong way round. */
  readonly decided = new Share()
  readonly wrong = new Share()
  readonly halfWidths: number[] = []

  /** A part of 1, such as 0.12 for ±12 %. */
  get halfWidth(): number {
    return quantile(this.halfWidths, 0.5)
  }
}

export class Score {
  readonly metrics: Readonly<Record<Metric, MetricScore>> = {
    rate: new MetricScore(),
    cpu: new MetricScore(),
  }
  readonly voided = new Share()
  readonly seconds: number[] = []

  add(world: World, findings: Findings): void {
    for (const ratio of findings.ratios) this.#addRatio(world, ratio)
    for (const { p, metric } of findings.twins) if (p !== null) this.metrics[metric].twins.add(p < 0.05)
    this.#addPairs(world, findings)
    for (const { id } of world.cells) this.voided.add(findings.voided.includes(id))
    this.seconds.push(world.now)
  }

  #addRatio(world: World, { a, b, metric, low, high }: Ratio): void {
    if (low === null || high === null) return
    const score = this.metrics[metric]
    const holds = (where: 'free' | 'now') => {
      const truth = Math.exp((metric === 'rate' ? -1 : 1) * world.truth(a, b, where))
      return low <= truth && truth <= high
    }
    score.coverage.add(holds('now'))
    score.coverageFree.add(holds('free'))
    score.halfWidths.push(halfWidthOf({ low, high }) ?? Number.NaN)
  }

  #addPairs(world: World, { pairs }: Findings): void {
    for (const [, own] of Map.groupBy(pairs, ({ race }) => race)) {
      const [first] = own
      if (first === undefined) continue
      const score = this.metrics[first.metric]
      let isFalse = false
      let areEqual = true
      for (const { a, b, low, high, p, metric } of own) {
        const truth = (metric === 'rate' ? -1 : 1) * world.truth(a, b, 'now')
        const isDecided = (p ?? 1) < 0.05
        const kind = [a, b].some((id) => world.isUneven(id)) ? 'uneven' : 'even'
        if (low !== null && high !== null)
          score.pairs[kind].add(low <= Math.exp(truth) && Math.exp(truth) <= high)
        if (truth === 0) isFalse ||= isDecided
        else {
          areEqual = false
          score.decided.add(isDecided)
          score.wrong.add(isDecided && ((low ?? 0) > 1 ? truth < 0 : (high ?? 0) < 1 && truth > 0))
        }
      }
      if (areEqual) score.falseRaces.add(isFalse)
    }
  }
}

/** As a part of 1, such as 0.12 for ±12 %; null without an interval. */
export function halfWidthOf({ low, high }: Pick<Ratio, 'low' | 'high'>): number | null {
  return low === null || high === null ? null : Math.sqrt(high / low) - 1
}

/** NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN
}
