import type { Fault } from '../fault.ts'
import { failingHandler, silentHandler } from './handlers.ts'
import { leaks } from './leaks.ts'
import { limits } from './limits.ts'
import { overload } from './overload.ts'
import { refusedStart } from './refused-start.ts'
import { restart } from './restart.ts'
import { sigterm } from './sigterm.ts'
import { slowClients } from './slow-clients.ts'
import { uncaught } from './uncaught.ts'

/** The rows of the matrix, in its order. */
export const FAULTS: readonly Fault[] = [
  sigterm,
  restart,
  uncaught,
  failingHandler,
  silentHandler,
  slowClients,
  leaks,
  limits,
  overload,
  refusedStart,
]
