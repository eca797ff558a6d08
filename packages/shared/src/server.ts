import { once } from 'node:events'
import type { Server, ServerOptions } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config.ts'

/** Node's limits for slow clients. */
export function serverOptions({ KEEP_ALIVE_TIMEOUT_MS }: Config) {
  return {
    headersTimeout: 10_000,
    requestTimeout: 60_000, // the whole request, with its body
    connectionsCheckingInterval: 5_000, // how often Node looks at these two
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  } satisfies ServerOptions
}

/** Such as `http://127.0.0.1:3000`. */
export function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Ends the process with one sentence if the server cannot listen. */
export function refuseToListen(error: Error): never {
  console.error(`${error.message}. Stop what listens there, or set PORT and HOST.`)
  process.exit(1)
}

const connections = new WeakMap<Server, Set<Socket>>()

/** Remembers the connections of a server for `drain`. Call it before the server listens. */
export function trackConnections<Tracked extends Server>(server: Tracked): Tracked {
  const sockets = new Set<Socket>()
  connections.set(server, sockets)
  let enough = 64
  return server.on('connection', (socket) => {
    sockets.add(socket)
    if (sockets.size <= enough) return
    // Here, and not at each `close`: with a second listener of it, a hello takes up to 25 µs instead of 14.
    for (const known of sockets) if (known.destroyed) sockets.delete(known)
    enough = 64 + 2 * sockets.size
  })
}

/**
 * The first step of a stop: goes on accepting connections for `ms`, and then until none waits, because the kernel resets those that wait when
 * listening stops. Node accepts one per turn of the event loop, so on a busy machine up to 63 of 64 waited.
 */
export async function keepAccepting(server: Server, ms: number): Promise<void> {
  await sleep(ms)
  let quietTurns = 0
  server.on('connection', () => {
    quietTurns = 0
  })
  const end = performance.now() + 2_000
  while (quietTurns++ < 2 && performance.now() < end) await nextTurn()
}

/**
 * Closes a server without losing a request. `server.close()` alone lost 357 of 41,957: it resets idle connections at once, although a request
 * may be on its way. So this stops listening first. Then responses say `connection: close`. If they said so before, clients would come back,
 * and the kernel would reset what nobody has accepted yet: 301 of 65,919. Then the silent connections are closed.
 */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  NetServer.prototype.close.call(server) // only stops listening; `http.Server` adds the reset
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
  const sockets = connections.get(server) ?? new Set()
  const cut = setTimeout(() => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }, 2_000)
  await Promise.race([closed, sleep(100)])
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

/** Whether a client still has to read, or to send its first request. Node counts both as idle. */
function isWaitedFor({ bytesRead, destroyed, writableLength }: Socket): boolean {
  return !destroyed && (bytesRead === 0 || writableLength > 0)
}
