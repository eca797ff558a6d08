import { formatPercent } from '@startgrid/cli/numbers.ts'
import type { GateResult } from '../../model/figures.ts'
import { serverSeconds } from '../analysis/slices.ts'
import { NEAR_CEILING } from './ceiling.ts'
import type { Evidence, Judged, JudgedSlice } from './evidence.ts'
import { failed, notMeant, passed, unknown } from './verdict.ts'

/** Part of their core that server and proxy must have used. */
const BOUND = 0.95

/**
 * Server and proxy were what limited the rate: they used their core all the time. What the generator used says nothing, for it
 * polls. What little others took of the core (the rest is the gate `ours`) was not there to be used.
 */
export function judgeServerBound(evidence: Evidence): GateResult {
  const { cell, counted, cores } = evidence
  if (!cell.serverBound) return notMeant('server-bound', 'this cell is not meant to use a whole core')
  const slices = counted.flat().filter(({ disturbed }) => !disturbed)
  const use = coreUse(cell, slices)
  if (cores === null) return unknown('server-bound', 'servers have no core of their own here')
  if (slices.length === 0 && counted.flat().length > 0)
    return unknown('server-bound', 'others took the cores during every slice')
  if (use === null) return unknown('server-bound', 'the CPU that the servers used is not known')
  const who = cell.topology === 'direct' ? 'the server' : 'server and proxy'
  const whose = cell.topology === 'direct' ? 'its' : 'their'
  const finding = `${who} used ${formatPercent(use)} of ${whose} ${(cell.serverCores ?? 1) > 1 ? 'cores' : 'core'}`
  return use >= BOUND ? passed('server-bound', finding) : failed('server-bound', finding, adviceFor(evidence))
}

/** 0 to 1; null if it is not known of every slice, or there is none. */
function coreUse(cell: Judged, slices: readonly JudgedSlice[]): number | null {
  let used = 0
  let available = 0
  for (const { cpuSeconds, disturbance, seconds } of slices) {
    const own = serverSeconds(cell, cpuSeconds)
    if (own === null) return null
    used += own
    // Who took the core is in several accounts. A generator that waits offers nothing meanwhile.
    const taken = Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
    available += seconds * ((cell.serverCores ?? 1) - taken)
  }
  return available > 0 ? Math.min(1, used / available) : null
}

function adviceFor({ counted, driver }: Evidence): string {
  const slices = counted.flat()
  const rates = slices.map(({ requests, seconds }) => requests / seconds)
  if (driver.ceiling !== null && Math.max(...rates) >= driver.ceiling * NEAR_CEILING) {
    return driver.name === 'startgrid'
      ? 'The generator cannot offer more: read this rate as a lower bound, or measure a heavier workload.'
      : `${driver.name} cannot offer more: measure with --driver startgrid.`
  }
  return 'Offer more --connections; if that does not help, the app waits for something else than its core.'
}
