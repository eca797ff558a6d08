/** Sends its response byte by byte. */

import { did, offer, readSettings } from './fault-process.ts'
import { rawResponse } from './raw-server.ts'

export interface TrickleSettings {
  /** Between two bytes. */
  ms: number
}

const { ms } = readSettings<TrickleSettings>()
const BYTES = [...Buffer.from(rawResponse('drop by drop'))].map((byte) => Buffer.of(byte))

await offer((socket) => {
  let sent = 0
  const drip = setInterval(() => {
    socket.write(BYTES[sent++] ?? '')
    if (sent < BYTES.length && !socket.destroyed) return
    clearInterval(drip)
    did.responses++
  }, ms)
})
