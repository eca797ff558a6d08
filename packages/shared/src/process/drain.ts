import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LINGER_MS, QUIET_MS } from './lifecycle.ts'

const connections = new WeakMap<Server, Set<Socket>>()

/** Sockets that have left HTTP by an upgrade. Node's HTTP server forgets them, but waits for them. */
const upgraded = new WeakSet<Socket>()

/**
 * Lets `drain` see the connections of a server. Call it before the server listens.
 *
 * Node listens for `close` of every socket. If we did, too, V8 would learn from the long life of these arrays to put all arrays of two
 * listeners into old space. Those of responses would keep whole requests there: a hello takes up to 25 µs then instead of 14.
 * @returns the open connections, and some that are closed
 */
export function trackConnections(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  connections.set(server, sockets)
  let enough = 64
  server.on('connection', (socket) => {
    sockets.add(socket)
    if (sockets.size <= enough) return
    for (const known of sockets) if (known.destroyed) sockets.delete(known)
    enough = 64 + 2 * sockets.size
  })
  return sockets
}

/** An option of `createServer`: accepts an upgrade if somebody listens, as Node does by default, and lets `drain` close its socket. */
export function shouldUpgradeCallback(this: Server, { socket }: IncomingMessage): boolean {
  const isAccepted = this.listenerCount('upgrade') > 0
  if (isAccepted) upgraded.add(socket)
  return isAccepted
}

/**
 * Closes an HTTP server without losing a request. `server.close()` alone lost 357 of 41,957: it resets idle connections at once, although a
 * request may be on its way. It also waits until the keep-alive of busy connections ends: 6 s for a keep-alive of 5 s. So this stops
 * listening first. Then active clients send one more request, and the response says `connection: close`. If it said so before, they would
 * come back, and the kernel would reset the connections that nobody has accepted yet: 301 of 65,919. Then the silent connections are closed,
 * and after `LINGER_MS` the WebSockets, and connections that have sent nothing at all. A new client that gets no core sends late, and it
 * cannot know that its connection is an idle one.
 * @param server one whose connections are tracked, as `protect` does
 */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  const sockets = connections.get(server) ?? new Set()
  // `http.Server.close()` would close idle connections at once; that of `net.Server`, below it, only stops listening.
  NetServer.prototype.close.call(server)
  // Node emits `checkContinue` instead of `request` if somebody listens for it.
  for (const event of ['request', 'checkContinue'])
    if (server.listenerCount(event) > 0) server.prependListener(event, sayClose)
  const cut = setTimeout(() => {
    for (const socket of sockets) if (upgraded.has(socket) || socket.bytesRead === 0) socket.destroy()
  }, LINGER_MS)
  await Promise.race([closed, sleep(QUIET_MS)])
  const sweep = setInterval(() => {
    // Node runs timers before it reads. If this process stood still, requests have arrived that it has not seen yet.
    setImmediate(() => {
      if (![...sockets].some(isWaitedFor)) server.closeIdleConnections()
    })
  }, 50)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

function sayClose(_request: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = false
}

/** Whether a client still has to read, or to send its first request. Node counts both as idle. */
function isWaitedFor({ bytesRead, destroyed, writableLength }: Socket): boolean {
  return !destroyed && (bytesRead === 0 || writableLength > 0)
}
