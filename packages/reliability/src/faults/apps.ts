import type { AppSubject } from '../app.ts'
import type { Finding } from '../finding.ts'
import type { Fault } from '../subject.ts'
import { ANY } from './any.ts'
import { tryFailing, trySilent } from './handlers.ts'
import { tryLimits, tryOverload } from './limits.ts'
import { tryStarts, tryUncaught } from './process.ts'
import { tryUnderWay } from './stop.ts'

/** What needs the settings, the failing routes or the log of an app of the grid. */
const OWN: readonly Fault<AppSubject>[] = [
  { name: 'drain', rows: { drain: tryDrain } },
  { name: 'time-limits', rows: { 'time-limits': tryLimits } },
  { name: 'uncaught', rows: { uncaught: tryUncaught } },
  { name: 'failing-handler', rows: { 'failing-handler': tryFailing } },
  { name: 'silent-handler', rows: { 'silent-handler': trySilent } },
  { name: 'overload', isAlone: true, rows: { overload: tryOverload } },
  { name: 'refused-start', rows: { 'refused-start': tryStarts } },
]

export const OF_APPS: readonly Fault<AppSubject>[] = [...ANY, ...OWN]

/** With `SHUTDOWN_DELAY_MS`, load balancers may go on to send new connections for a while. */
async function tryDrain(subject: AppSubject): Promise<Finding[]> {
  subject.stopping = { graceMs: 30_000, drainDelayMs: 3_000 }
  return (await tryUnderWay(subject)).map((one) => ({ ...one, row: `drain ${one.row}` }))
}
