import type { Fault } from '../fault.ts'
import { desync } from './desync.ts'
import { disconnects } from './disconnects.ts'
import { failingHandler } from './failing-handler.ts'
import { fileDescriptors } from './file-descriptors.ts'
import { fuzz } from './fuzz.ts'
import { limits } from './limits.ts'
import { nginxReload } from './nginx-reload.ts'
import { overload } from './overload.ts'
import { pipelining } from './pipelining.ts'
import { refusedStart } from './refused-start.ts'
import { restart } from './restart.ts'
import { rfc9112 } from './rfc9112.ts'
import { sigterm } from './sigterm.ts'
import { slowClients } from './slow-clients.ts'
import { soak } from './soak.ts'
import { uncaught } from './uncaught.ts'

/** The rows of the matrix, in its order. */
export const FAULTS: readonly Fault[] = [
  sigterm,
  nginxReload,
  restart,
  overload,
  slowClients,
  pipelining,
  limits,
  fuzz,
  desync,
  rfc9112,
  failingHandler,
  uncaught,
  disconnects,
  soak,
  refusedStart,
  fileDescriptors,
]
