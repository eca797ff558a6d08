/** The process of a server whose behaviour is known, started by server.ts: `node server-process.ts '{"kind":"delay","ms":20}'`. */

import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { rawResponse, serve } from './raw-server.ts'
import type { Behaviour, Did, FromServer } from './server.ts'

/** A timer may fire this late, so the rest of a wait is polled. */
const POLLED_MS = 2

/**
 * A hash of so much takes about a millisecond. Less work would distort a comparison of generators: waking one that sleeps costs the server
 * about 9 µs in a virtual machine, and one that polls need not be woken.
 */
const WORK = Buffer.alloc(1_400_000, 'work')

const NEVER = new Int32Array(new SharedArrayBuffer(4))

const did: Did = { connections: 0, freezes: 0, readAt: [], respondedAt: [] }
const held: { socket: Socket; due: number }[] = []
let waiting = false

function respond(socket: Socket, body = 'hi'): void {
  did.respondedAt.push(performance.now())
  if (!socket.destroyed) socket.write(rawResponse(body))
}

/** Responds when it is due: never early, and late only by as much as the machine keeps this process waiting. */
function respondAt(socket: Socket, due: number): void {
  held.push({ socket, due })
  if (!waiting) wait()
}

function wait(): void {
  const next = held[0]
  waiting = next !== undefined
  if (next === undefined) return
  const left = next.due - performance.now()
  if (left > POLLED_MS) setTimeout(respondDue, left - POLLED_MS)
  else setImmediate(respondDue)
}

function respondDue(): void {
  for (let next = held[0]; next !== undefined && next.due <= performance.now(); next = held[0]) {
    held.shift()
    respond(next.socket)
  }
  wait()
}

/** The n-th freeze, from 1, ends with the n-th period, even if it began late. */
function freezeLater(n: number, frozenMs: number, everyMs: number, startedAt = performance.now()): void {
  const end = startedAt + n * everyMs
  const freeze = () => {
    did.freezes++
    Atomics.wait(NEVER, 0, 0, Math.max(0, end - performance.now()))
    freezeLater(n + 1, frozenMs, everyMs, startedAt)
  }
  setTimeout(freeze, Math.max(0, end - frozenMs - performance.now()))
}

function handlerOf(behaviour: Behaviour): (socket: Socket) => void {
  switch (behaviour.kind) {
    case 'at once':
      return (socket) => respond(socket)
    case 'compute':
      return (socket) => respond(socket, createHash('sha256').update(WORK).digest('hex'))
    case 'delay':
      return (socket) => respondAt(socket, performance.now() + behaviour.ms)
    case 'freeze':
      freezeLater(1, behaviour.frozenMs, behaviour.everyMs)
      return (socket) => respond(socket)
    case 'queue': {
      let freeAt = 0
      return (socket) => {
        freeAt = Math.max(freeAt, performance.now()) + 1000 / behaviour.perSecond
        respondAt(socket, freeAt)
      }
    }
  }
}

const handle = handlerOf(JSON.parse(process.argv[2] ?? '') as Behaviour)
const server = await serve((socket) => {
  did.readAt.push(performance.now())
  handle(socket)
})
const tell = (message: FromServer) => process.send?.(message)
process.on('message', () => tell({ did: { ...did, connections: server.connections } }))
process.on('disconnect', () => process.exit())
tell({ port: server.port })
