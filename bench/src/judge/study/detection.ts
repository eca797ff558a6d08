import { type Interval, meanInterval, spreadInterval } from '@startgrid/stats/estimate.ts'
import { quantile } from '@startgrid/stats/moments.ts'
import type { Detection } from '../../model/figures.ts'

/**
 * How well tools detect what was planted. Their errors do not depend on how much that is, so what one planted difference shows of them holds for
 * all: a result that is divided by the truth is that of two equal servers.
 */

export interface ToolScore {
  race: string
  system: string
  /** Comparisons that gave an estimate, and those that failed. */
  results: readonly Detection[]
  failures: readonly string[]
  /** Of one comparison, on average. */
  seconds: number
  /** Its estimates over the truth: 1 is right. */
  bias: Interval
  /** Standard deviation of the logarithm of that. */
  spread: Interval
  /** A slowdown that a test which knows this spread shows in 4 of 5 comparisons, if it shows one of 20 where there is none: a ratio. */
  ideal: Interval
  /** How long it takes to see 5 % so, if the spread falls with the square root of the time. */
  minutes: number
  rules: readonly RuleScore[]
}

/** What a reader of its output believes. */
export interface RuleScore {
  rule: string
  /** By what was planted, in rising order: how often it showed a difference. */
  levels: readonly { truth: number; shown: number; of: number }[]
  /** Verdicts, and how many of them had shown a difference of equal servers. */
  of: number
  wrong: number
  /** A slowdown that it shows in 4 of 5 comparisons: a ratio; null with fewer than five verdicts. */
  finds: number | null
}

/** In standard deviations: 5 % false alarms, found in 4 of 5 (1.960 + 0.842). */
const IDEAL = 2.802

const MISSED = 0.2
const LEAST_VERDICTS = 5

const MARK = 1.05

/** A tool in a race, in the order in which they appear. */
export function scoreDetections(detections: readonly Detection[]): ToolScore[] {
  const groups = Map.groupBy(detections, ({ race, system }) => `${race}\n${system}`)
  return [...groups.values()].flatMap((own) => {
    const [first] = own
    const results = own.filter(({ estimate }) => estimate !== null)
    if (first === undefined) return []
    const errors = results.map(({ estimate, truth }) => Math.log((estimate ?? truth) / truth))
    const spread = spreadInterval(errors)
    const ideal = ratioOf(spread, (deviation) => IDEAL * deviation)
    const seconds = own.reduce((sum, one) => sum + one.seconds, 0) / own.length
    return {
      ...{ race: first.race, system: first.system, results, seconds, spread, ideal },
      failures: own.flatMap(({ failure }) => failure ?? []),
      bias: ratioOf(errors.length === 0 ? NOTHING : meanInterval(errors)),
      minutes: (seconds / 60) * (Math.log(ideal.value) / Math.log(MARK)) ** 2,
      rules: [...new Set(results.flatMap(({ rules }) => rules.map(({ rule }) => rule)))].map((rule) =>
        scoreRule(rule, results),
      ),
    }
  })
}

const NOTHING: Interval = { value: Number.NaN, low: null, high: null }

function ratioOf({ value, low, high }: Interval, scale = (log: number) => log): Interval {
  const end = (log: number | null) => (log === null ? null : Math.exp(scale(log)))
  return { value: Math.exp(scale(value)), low: end(low), high: end(high) }
}

function scoreRule(name: string, results: readonly Detection[]): RuleScore {
  const own = results.flatMap(({ planted, truth, rules }) =>
    rules.filter(({ rule }) => rule === name).map((rule) => ({ planted, truth, ...rule })),
  )
  const verdicts = own.flatMap(({ truth, low, high }) =>
    low === null || high === null ? [] : [{ low: low / truth, high: high / truth }],
  )
  const levels = [...Map.groupBy(own, ({ planted }) => planted)].toSorted(([one], [other]) => one - other)
  return {
    rule: name,
    levels: levels.map(([, at]) => ({
      truth: at.reduce((sum, { truth }) => sum + truth, 0) / at.length,
      shown: at.filter(({ shown }) => shown).length,
      of: at.length,
    })),
    of: verdicts.length,
    wrong: verdicts.filter(({ low, high }) => low > 1 || high < 1).length,
    // Of so much slower a server, the lower end of so many is above 1.
    finds:
      verdicts.length < LEAST_VERDICTS
        ? null
        : 1 /
          quantile(
            verdicts.map(({ low }) => low),
            MISSED,
          ),
  }
}

/** A case in which another tool was better, with what it reached and what the tool in question did: ratios that are found in 4 of 5, or counts. */
export interface Better {
  race: string
  system: string
  /** Null: by the spread of its estimates, whatever it says of them. */
  rule: string | null
  other: number | RuleScore['levels'][number]
  own: number | RuleScore['levels'][number]
}

/** Every case in which another tool was better than this one in the same race. By its rules only where they were not wrong more often. */
export function betterThan(system: string, scores: readonly ToolScore[]): Better[] {
  return scores.flatMap((one) => {
    const own = scores.find(({ race, system: name }) => race === one.race && name === system)
    const [verdict] = own?.rules ?? []
    if (own === undefined || one === own) return []
    const { race, system: name } = one
    const found: Better[] = []
    if (one.ideal.value < own.ideal.value)
      found.push({ race, system: name, rule: null, other: one.ideal.value, own: own.ideal.value })
    for (const { rule, finds, levels, wrong, of } of one.rules) {
      // Without a verdict ours is never wrong.
      if (wrong / of > (verdict?.of ? verdict.wrong / verdict.of : 0)) continue
      const mostly = verdict?.finds ?? Number.POSITIVE_INFINITY
      if (finds !== null && finds < mostly)
        found.push({ race, system: name, rule, other: finds, own: mostly })
      for (const [index, other] of levels.entries()) {
        const ours = verdict?.levels[index]
        if (ours !== undefined && other.truth > 1 && other.shown / other.of > ours.shown / ours.of)
          found.push({ race, system: name, rule, other, own: ours })
      }
    }
    return found
  })
}
