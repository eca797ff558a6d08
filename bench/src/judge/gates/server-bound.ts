import { formatPercent } from '@startgrid/cli/numbers.ts'
import { quantile } from '@startgrid/stats/moments.ts'
import type { GateResult } from '../../model/figures.ts'
import { serverSeconds } from '../analysis/slices.ts'
import {
  type Evidence,
  failed,
  type Judged,
  type JudgedSlice,
  notMeant,
  passed,
  unknown,
} from './evidence.ts'

/** From this part of the driver's ceiling on, a rate may be the driver's, and not the server's. */
export const NEAR_CEILING = 0.9

/** Part of their core that server and proxy must have used. */
const BOUND = 0.95

/**
 * In the busiest quarter of slices. A host that stops the generator's core for 25 ms leaves the servers idle for half a slice,
 * and no account shows it: 12 of 48 cells were void for that, whose median slice used 94 to 102 %.
 */
const BUSIEST = 0.75

/** A host that takes more than this also stops the servers' core. When it took 0.23, 11 of 48 busy cells seemed to use 70 to 95 % of it. */
const STOLEN = 0.05

/**
 * Server and proxy were what limited the rate: they used their core all the time. What the generator used says nothing, for it
 * polls. What others visibly took of the core was not there to be used.
 */
export function judgeServerBound(evidence: Evidence): GateResult {
  const { cell, counted, cores, stolen } = evidence
  if (!cell.serverBound) return notMeant('server-bound', 'this cell is not meant to use a whole core')
  const slices = counted.flat().filter(({ disturbed }) => !disturbed)
  const use = coreUse(cell, slices)
  if (cores === null) return unknown('server-bound', 'servers have no core of their own here')
  if (slices.length === 0 && counted.flat().length > 0)
    return unknown('server-bound', 'others took the cores during every slice')
  if (use === null) return unknown('server-bound', 'the CPU that the servers used is not known')
  const who = cell.topology === 'direct' ? 'the server' : 'server and proxy'
  const whose = cell.topology === 'direct' ? 'its' : 'their'
  const finding = `${who} used ${formatPercent(use)} of ${whose} ${cell.cores.given > 1 ? 'cores' : 'core'}`
  if (use < BOUND && stolen > STOLEN)
    return unknown(
      'server-bound',
      `${finding}, but the host took ${formatPercent(stolen)} of this machine's CPU`,
    )
  return use >= BOUND ? passed('server-bound', finding) : failed('server-bound', finding, adviceFor(evidence))
}

/** 0 to 1, in the busiest quarter of slices; null if it is not known of every slice, or there is none. */
function coreUse(cell: Judged, slices: readonly JudgedSlice[]): number | null {
  const uses = slices.map(({ cpuSeconds, disturbance, seconds }) => {
    const used = serverSeconds(cell, cpuSeconds)
    // Who took the core is in several accounts. A generator that waits offers nothing meanwhile.
    const taken = Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
    return used === null ? null : used / (seconds * (cell.cores.given - taken))
  })
  if (uses.length === 0 || uses.includes(null)) return null
  return Math.min(
    1,
    quantile(
      uses.filter((use) => use !== null),
      BUSIEST,
    ),
  )
}

function adviceFor({ counted, driver }: Evidence): string {
  const slices = counted.flat()
  const rates = slices.map(({ requests, seconds }) => requests / seconds)
  if (driver.ceiling !== null && Math.max(...rates) >= driver.ceiling * NEAR_CEILING) {
    return 'The generator cannot offer more: read this rate as a lower bound, or measure a heavier workload.'
  }
  return 'Offer more --connections; if that does not help, the app waits for something else than its core.'
}
