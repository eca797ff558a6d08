import { median } from '@startgrid/stats/moments.ts'
import type { Cell } from '../result/cell.ts'
import type { Finding } from '../result/figures.ts'
import type { Heat } from '../result/heat.ts'

/** So many times as long as with the other system: no noise that hits both. On a busy machine others stop a server for 60 ms as well. */
const STALL = 40
const LONG = { seconds: 1, times: 10 }
/** And as a request usually waits: no queue. */
const OWN = 10

/** What robust figures leave out: a server that stops responding for a while in most of its starts. */
export function stallOf(
  { race, over, under }: Pick<Finding, 'race' | 'over' | 'under'>,
  { cells, heats }: { cells: readonly Cell[]; heats: readonly Heat[] },
): Finding['stall'] {
  const waits = (system: string) => {
    const cell = cells.find((one) => one.race === race && one.system === system)
    return cell === undefined ? null : waitsOf(cell, heats)
  }
  for (const [system, another] of [
    [over, under],
    [under, over],
  ] as const) {
    const [own, other] = [waits(system), waits(another)]
    if (own === null || other === null) return undefined
    const times = own.longest >= LONG.seconds ? LONG.times : STALL
    if (own.longest >= times * other.longest && own.longest >= OWN * own.usual)
      return { system, seconds: own.longest, other: other.longest }
  }
  return undefined
}

/** Seconds, in the typical start, under any load. Its first slice is left out: nothing is loaded or compiled yet. */
function waitsOf({ id, connections }: Cell, heats: readonly Heat[]) {
  const starts = heats
    .map(({ slices, trials }) => ({
      own: slices.filter(({ cell }) => cell === id).slice(1),
      trials: trials.filter(({ cell }) => cell === id),
    }))
    .flatMap(({ own, trials }) => {
      const waits = [...own, ...trials].flatMap(({ longest }) => longest ?? [])
      if (waits.length === 0) return []
      const usual = median(
        own.map(({ seconds, requests }) => (connections * seconds) / Math.max(1, requests)),
      )
      return { longest: Math.max(...waits), usual }
    })
  if (starts.length === 0) return null
  return { longest: median(starts.map((one) => one.longest)), usual: median(starts.map((one) => one.usual)) }
}
