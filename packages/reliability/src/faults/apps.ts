import type { AppSubject } from '../app.ts'
import type { Fault } from '../subject.ts'
import { ANY } from './any.ts'
import { failingHandler, silentHandler } from './handlers.ts'
import { overload, timeLimits } from './limits.ts'
import { drain, refusedStart, uncaught } from './process.ts'

/** What needs the settings, the failing routes or the log of an app of the grid. */
const OWN = [drain, timeLimits, uncaught, failingHandler, silentHandler, overload, refusedStart]

export const OF_APPS: readonly Fault<AppSubject>[] = [...ANY, ...OWN]
