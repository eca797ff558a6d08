import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds that a connection may still bring a request after the server stopped listening. */
export const QUIET_MS = 100

/**
 * Closes an HTTP server without losing a request. `server.close()` alone resets connections that are idle for just this
 * moment (a request may be on its way), and waits out the keep-alive of those that are answered later: 6 s at 5 s
 * keep-alive. So stop listening first, let whoever is active come once more and be told `connection: close` by the app
 * (see `health.draining`), and only then close what stayed silent.
 */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  // net's close, not http's: that one closes idle connections at once.
  NetServer.prototype.close.call(server)
  await Promise.race([closed, sleep(QUIET_MS)])
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await closed
  clearInterval(sweep)
}
