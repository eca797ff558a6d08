import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds for which a connection may still send a request after the server stopped listening. */
export const QUIET_MS = 100

/**
 * Closes an HTTP server without losing a request. `server.close()` alone resets idle connections at once, although a request may be on its
 * way. It also waits until the keep-alive of busy connections ends: 6 s for a keep-alive of 5 s. So this stops listening first. Active
 * clients send one more request and get `connection: close` from the app (see `health.draining`). Then the silent connections are closed.
 */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  // This is net's close. That of http closes idle connections at once.
  NetServer.prototype.close.call(server)
  await Promise.race([closed, sleep(QUIET_MS)])
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await closed
  clearInterval(sweep)
}
