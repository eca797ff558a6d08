import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from 'bun'
import type { Middleware } from './routes.ts'

/** When a server that is about to stop has stopped listening. */
const stopping = new WeakMap<Server<never>, Promise<void>>()

/**
 * Stops a server without losing a request. `server.stop()` alone lost 64 of 8,042: it closes idle connections at once, although a request may
 * be on its way. So for 100 ms requests wait: then their connections are not idle.
 */
export async function drain(server: Server<never>): Promise<void> {
  const { promise: stopsListening, resolve } = Promise.withResolvers<void>()
  stopping.set(server, stopsListening)
  await sleep(100)
  const stopped = server.stop()
  resolve()
  await stopped
}

/** Only after it has stopped listening, responses say `connection: close`. Before, clients would come back, and be reset. */
export const closeWhenStopped: Middleware = (next) => async (request, server) => {
  const stopsListening = stopping.get(server)
  await stopsListening
  const response = await next(request, server)
  if (stopsListening) response?.headers.set('connection', 'close')
  return response
}
