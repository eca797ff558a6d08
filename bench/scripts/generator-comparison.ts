import { median } from '@startgrid/stats/moments.ts'
import type { DriverRecord } from '../src/model/result.ts'

/** What generators did in turns against the same server. Pure. */

export type GeneratorName = DriverRecord['name']

/** One turn of one generator. */
export interface Turn {
  /** Responses per second. */
  rate: number
  /** Others used our cores, as the kernel says: never decided by the rate. */
  disturbed: boolean
  /** Part of its core that the server used, 0 to 1; null where the system does not tell. */
  serverUse: number | null
}

/** Every generator once, one after the other. */
export type Round = ReadonlyMap<GeneratorName, Turn>

/** Own generator over another, over some rounds. */
export interface Comparison {
  other: GeneratorName
  rounds: number
  ownRate: number
  otherRate: number
  /** Median of the rounds' ratios, which what slowed a whole round does not move. */
  ratio: number
  /** Median part of its core that the server used under the own generator: near 1, a better generator would show no better rate. */
  serverUse: number | null
}

/** @returns undefined without a round in which both took their turn, undisturbed if that is asked for */
export function compareRates(
  rounds: readonly Round[],
  other: GeneratorName,
  { undisturbed }: { undisturbed: boolean },
): Comparison | undefined {
  const pairs = rounds.flatMap((round) => {
    const [own, their] = [round.get('startgrid'), round.get(other)]
    if (own === undefined || their === undefined) return []
    return undisturbed && (own.disturbed || their.disturbed) ? [] : [{ own, their }]
  })
  if (pairs.length === 0) return undefined
  return {
    other,
    rounds: pairs.length,
    ownRate: median(pairs.map(({ own }) => own.rate)),
    otherRate: median(pairs.map(({ their }) => their.rate)),
    ratio: median(pairs.map(({ own, their }) => own.rate / their.rate)),
    serverUse: medianUse(pairs.map(({ own }) => own)),
  }
}

function medianUse(turns: readonly Turn[]): number | null {
  const uses = turns.map(({ serverUse }) => serverUse).filter((use) => use !== null)
  return uses.length > 0 ? median(uses) : null
}

/** The order of a round: turns of every generator come equally often first, second and last. */
export function rotate<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}
