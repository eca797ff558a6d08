import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from 'bun'
import type { Middleware, Result } from './routes.ts'

/** When a server that is about to stop has stopped listening. */
const stopping = new WeakMap<Server<never>, Promise<void>>()

/** Requests whose response Bun does not have yet. */
let waiting = 0

/**
 * Stops a server without losing a request. `server.stop()` closes idle connections at once, although a request may be on its way, and the
 * others with their response, also if its head says keep-alive. So requests wait until nothing was sent for 300 ms, but not longer than 3 s.
 */
export async function drain(server: Server<never>): Promise<void> {
  const { promise: stopsListening, resolve } = Promise.withResolvers<void>()
  stopping.set(server, stopsListening)
  for (let looks = 0, quiet = 0; looks < 60 && quiet < 6; looks++) {
    await sleep(50)
    quiet = server.pendingRequests > waiting ? 0 : quiet + 1
  }
  const stopped = server.stop()
  resolve()
  await Promise.race([stopped, cutSilent(server)])
}

/** Bun waits for connections without a first request, and for those with a part of one. After 2 s nobody else does. */
async function cutSilent(server: Server<never>): Promise<void> {
  await sleep(2_000)
  while (server.pendingRequests + server.pendingWebSockets > 0) await sleep(50)
  await server.stop(true)
}

/** Only after it has stopped listening, responses say `connection: close`. Before, clients would come back, and be reset. */
export const closeWhenStopped: Middleware = (next) => (request, server) => {
  const stopsListening = stopping.get(server)
  const response = stopsListening ? stopsListening.then(() => next(request, server)) : next(request, server)
  return response instanceof Promise ? sayClose(response, server) : response
}

async function sayClose(result: Promise<Result>, server: Server<never>): Promise<Result> {
  waiting++
  try {
    const response = await result
    const stopsListening = stopping.get(server) // a slow handler may have begun before
    if (stopsListening === undefined) return response
    await stopsListening
    response?.headers.set('connection', 'close')
    return response
  } finally {
    waiting--
  }
}
