import type { AppSubject } from '../app.ts'
import type { Fault, Finding } from '../subject.ts'
import { ANY } from './any.ts'
import { failingHandler, silentHandler } from './handlers.ts'
import { overload, timeLimits } from './limits.ts'
import { refusedStart, uncaught } from './process.ts'
import { tryUnderWay } from './stop.ts'

/** With `SHUTDOWN_DELAY_MS`, load balancers may go on to send new connections for a while. */
const drain: Fault<AppSubject> = { name: 'drain', rows: { drain: tryDrain } }

async function tryDrain(subject: AppSubject): Promise<Finding[]> {
  subject.stopping = { graceMs: 30_000, drainDelayMs: 3_000 }
  return (await tryUnderWay(subject)).map((one) => ({ ...one, row: `drain ${one.row}` }))
}

/** What needs the settings, the failing routes or the log of an app of the grid. */
const OWN = [drain, timeLimits, uncaught, failingHandler, silentHandler, overload, refusedStart]

export const OF_APPS: readonly Fault<AppSubject>[] = [...ANY, ...OWN]
