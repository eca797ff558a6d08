/** Responds at once, but stands still at the end of every period. */

import { did, offer, readSettings } from './fault-process.ts'
import { rawResponse } from './raw-server.ts'

export interface FreezeSettings {
  frozenMs: number
  everyMs: number
}

const { frozenMs, everyMs } = readSettings<FreezeSettings>()
const CLOCK = new Int32Array(new SharedArrayBuffer(4))
const startedAt = performance.now()

/** The n-th freeze, from 1, ends with the n-th period, even if it began late. */
function freeze(n: number): void {
  did.faults++
  // Nothing wakes this wait but its end.
  Atomics.wait(CLOCK, 0, 0, Math.max(0, startedAt + n * everyMs - performance.now()))
  freezeLater(n + 1)
}

function freezeLater(n: number): void {
  setTimeout(() => freeze(n), Math.max(0, startedAt + n * everyMs - frozenMs - performance.now()))
}

freezeLater(1)
await offer((socket) => {
  did.responses++
  did.readAt.push(performance.now())
  did.respondedAt.push(performance.now())
  socket.write(rawResponse('hi'))
})
