import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds for which a connection may still send a request after the server stopped listening. */
export const QUIET_MS = 100

/** Milliseconds that WebSockets have to close after `health.signal` has told them to. Then they are cut, because they have no end. */
export const UPGRADED_MS = 2_000

/** Sockets that have left HTTP by an upgrade. Node's HTTP server forgets them, but waits for them. */
const upgraded = new WeakMap<Server, Set<Socket>>()

/** An option of `createServer`: accepts an upgrade if somebody listens, as Node does by default, and lets `drain` close its socket. */
export function shouldUpgradeCallback(this: Server, { socket }: IncomingMessage): boolean {
  if (this.listenerCount('upgrade') === 0) return false
  const sockets = upgraded.get(this) ?? new Set()
  upgraded.set(this, sockets.add(socket))
  socket.once('close', () => sockets.delete(socket))
  return true
}

/**
 * Closes an HTTP server without losing a request. `server.close()` alone resets idle connections at once, although a request may be on its
 * way. It also waits until the keep-alive of busy connections ends: 6 s for a keep-alive of 5 s. So this stops listening first. Active
 * clients send one more request and get `connection: close` from the app (see `health.draining`). Then the silent connections are closed,
 * and after `UPGRADED_MS` the WebSockets.
 */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  // `http.Server.close()` would close idle connections at once; that of `net.Server`, below it, only stops listening.
  NetServer.prototype.close.call(server)
  const cut = setTimeout(() => upgraded.get(server)?.forEach((socket) => void socket.destroy()), UPGRADED_MS)
  await Promise.race([closed, sleep(QUIET_MS)])
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
