import type { Fault } from '../subject.ts'
import { tryAbort, tryUpload } from './aborts.ts'
import { tryCrowd } from './crowd.ts'
import { tryRequests, tryStream as tryStreamMemory } from './keep.ts'
import { tryPromise, tryStream } from './late.ts'
import { tryInputs } from './odd.ts'
import { tryReader, trySenders } from './slow.ts'
import { tryHalfSent, tryRestart, tryUnderWay } from './stop.ts'

/** What is tried on any server, in the order of a report. What takes longest begins among the first three. */
export const ANY: readonly Fault[] = [
  { name: 'stop', rows: { stop: tryUnderWay, 'half-sent': tryHalfSent } },
  { name: 'restart', rows: { 'start again': tryRestart } },
  { name: 'keep', rows: { memory: tryRequests, 'stream memory': tryStreamMemory } },
  { name: 'abort', rows: { abort: tryAbort, upload: tryUpload } },
  { name: 'slow', rows: { 'slow senders': trySenders, 'slow reader': tryReader } },
  { name: 'odd', isAlone: true, rows: { odd: tryInputs } },
  { name: 'late', rows: { stream: tryStream, 'keep-alive': tryPromise } },
  { name: 'crowd', isAlone: true, rows: { crowd: tryCrowd } },
]
