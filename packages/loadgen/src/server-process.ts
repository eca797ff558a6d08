/** The process of a server whose behaviour is known, started by instrument.ts: `node server-process.ts '{"delayMs":20}'`. */

import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Behaviour, Did } from './instrument.ts'

/**
 * A hash of so much takes about a millisecond. Less work would distort a comparison of generators: waking one that sleeps costs the server
 * about 9 µs in a virtual machine, and one that polls need not be woken.
 */
const WORK = Buffer.alloc(1_400_000, 'work')

const NEVER = new Int32Array(new SharedArrayBuffer(4))

const { delayMs = 0, freeze, works } = JSON.parse(process.argv[2] ?? '') as Behaviour
const did: Did = { readAt: [], respondedAt: [] }

function respond(response: ServerResponse): void {
  const body = works ? createHash('sha256').update(WORK).digest('hex') : 'hi'
  did.respondedAt.push(performance.now())
  response.writeHead(200, { 'content-length': body.length }).end(body)
}

/** Stands still until the end of each period, even if it begins late. */
function freezeUntil(end: number, { frozenMs, everyMs }: NonNullable<Behaviour['freeze']>): void {
  const left = () => Math.max(0, end - performance.now())
  const stand = () => {
    Atomics.wait(NEVER, 0, 0, left())
    freezeUntil(end + everyMs, { frozenMs, everyMs })
  }
  setTimeout(stand, Math.max(0, left() - frozenMs))
}

if (freeze !== undefined) freezeUntil(performance.now() + freeze.everyMs, freeze)
const server = createServer((_, response) => {
  did.readAt.push(performance.now())
  if (delayMs > 0) setTimeout(respond, delayMs, response)
  else respond(response)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send?.({ did }))
process.on('disconnect', () => process.exit())
