/** The process of a server whose behaviour is known, started by server.ts: `node server-process.ts '{"kind":"delay","ms":20}'`. */

import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Behaviour, Did } from './server.ts'

/**
 * A hash of so much takes about a millisecond. Less work would distort a comparison of generators: waking one that sleeps costs the server
 * about 9 µs in a virtual machine, and one that polls need not be woken.
 */
const WORK = Buffer.alloc(1_400_000, 'work')

const NEVER = new Int32Array(new SharedArrayBuffer(4))

const did: Did = { connections: 0, readAt: [], respondedAt: [], faults: { status: 0, body: 0, reset: 0 } }

function respond(response: ServerResponse, body = 'hi', status = 200): void {
  did.respondedAt.push(performance.now())
  response.writeHead(status, { 'content-length': body.length }).end(body)
}

/** The n-th freeze, from 1, ends with the n-th period, even if it began late. */
function freezeLater(n: number, frozenMs: number, everyMs: number, startedAt = performance.now()): void {
  const end = startedAt + n * everyMs
  const freeze = () => {
    Atomics.wait(NEVER, 0, 0, Math.max(0, end - performance.now()))
    freezeLater(n + 1, frozenMs, everyMs, startedAt)
  }
  setTimeout(freeze, Math.max(0, end - frozenMs - performance.now()))
}

function fail(response: ServerResponse, kind: keyof Did['faults']): void {
  did.faults[kind]++
  if (kind === 'status') respond(response, 'hi', 500)
  else if (kind === 'body') respond(response, 'ho')
  else response.destroy()
}

/** @param n from 1 */
function handle(response: ServerResponse, n: number): void {
  const fault = behaviour.kind === 'faults' ? (['status', 'body', 'reset'] as const)[n % 5] : undefined
  if (fault !== undefined) fail(response, fault)
  else if (behaviour.kind === 'delay') setTimeout(() => respond(response), behaviour.ms)
  else if (behaviour.kind === 'compute') respond(response, createHash('sha256').update(WORK).digest('hex'))
  else respond(response)
}

const behaviour = JSON.parse(process.argv[2] ?? '') as Behaviour
if (behaviour.kind === 'freeze') freezeLater(1, behaviour.frozenMs, behaviour.everyMs)
const server = createServer((_, response) => handle(response, did.readAt.push(performance.now())))
server.keepAliveTimeout = 60_000
server.on('connection', () => did.connections++)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send?.({ did }))
process.on('disconnect', () => process.exit())
