import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server, ServerOptions, ServerResponse } from 'node:http'
import { type AddressInfo, createServer, Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from './app-options.ts'
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

/** Listens where the settings say, and logs the address. If it cannot, it ends the process with one sentence. */
export function listen(server: Server, { config, log }: Pick<AppOptions, 'config' | 'log'>): void {
  server.once('error', refuseToListen).listen(config.PORT, config.HOST, () => {
    // Also at LOG_LEVEL=warn: with PORT=0, this line is how one learns the address.
    log.child({}, { level: 'info' }).info({ pid: process.pid, address: addressOf(server) }, 'listening')
  })
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

/** Looks, 50 ms apart, at which nothing has been sent or read: time for a client that asks again over a link of 40 ms, if a packet of it is lost. */
const QUIET_LOOKS = 10

interface Traffic {
  readonly sockets: Set<Socket>
  /** Oldest first. */
  readonly underWay: Set<ServerResponse>
}

const traffic = new WeakMap<Server, Traffic>()

/** Remembers the connections of a server and the responses under way, for `drain`. Call it before the server listens. */
export function trackConnections<Tracked extends Server>(server: Tracked): Tracked {
  const sockets = new Set<Socket>()
  const underWay = new Set<ServerResponse>()
  traffic.set(server, { sockets, underWay })
  let enough = 64
  server.on('connection', (socket) => {
    sockets.add(socket)
    if (sockets.size <= enough) return
    // Here, and not at each `close`: with a second listener of it, a hello takes up to 25 µs instead of 14.
    for (const known of sockets) if (known.destroyed) sockets.delete(known)
    enough = 64 + 2 * sockets.size
  })
  function forget(this: ServerResponse) {
    underWay.delete(this)
  }
  return server.on('request', (_request, response) => {
    underWay.add(response)
    response.on('close', forget)
  })
}

/**
 * The first step of a stop: goes on accepting connections for `ms`, and then until none waits, because the kernel resets those that wait when
 * listening stops. Node accepts one per turn of the event loop, so on a busy machine up to 63 of 64 waited. A turn of pages took 290 ms
 * there: 2 s were too short for ten connections, and 21 of 2,400 clients lost their first request.
 */
export async function keepAccepting(server: Server, ms: number): Promise<void> {
  await sleep(ms)
  let quietTurns = 0
  server.on('connection', () => {
    quietTurns = 0
  })
  const end = performance.now() + 5_000
  while (quietTurns++ < 2 && performance.now() < end) await (cluster.isWorker ? askPrimary() : nextTurn())
}

/** A round trip of a worker to its primary, which passes on a connection first, if one waits there. */
async function askPrimary(): Promise<void> {
  const asking = createServer().listen(0, '127.0.0.1')
  await once(asking, 'listening')
  asking.close()
}

/**
 * Closes a server without losing a request. `server.close()` alone lost 357 of 41,957: it resets idle connections at once, although a request
 * may be on its way. So this stops listening first. Then each response whose head is not sent yet says `connection: close`. If they said so
 * before, clients would come back, and the kernel would reset what nobody has accepted yet: 301 of 65,919.
 */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  NetServer.prototype.close.call(server) // only stops listening; `http.Server` adds the reset
  const { sockets, underWay } = traffic.get(server) ?? { sockets: new Set(), underWay: new Set() }
  const newest = new Map<Socket, ServerResponse>()
  const sayClose = (response: ServerResponse) => {
    const { socket } = response.req
    const previous = newest.get(socket) // of a client that pipelines: it must not close the connection of this one
    if (previous?.headersSent === false) previous.removeHeader('connection')
    newest.set(socket, response)
    if (!response.headersSent) response.setHeader('connection', 'close')
  }
  for (const response of underWay) sayClose(response)
  server.prependListener('request', (_request, response) => sayClose(response))
  // Both look in `setImmediate`: Node runs timers before it reads. If this process stood still, requests have arrived that it has not seen yet.
  const cut = setTimeout(() => {
    setImmediate(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    })
  }, 2_000)
  let quietLooks = 0
  let before: number | undefined
  const sweep = setInterval(() => {
    setImmediate(() => {
      const open = [...sockets].filter(({ destroyed }) => !destroyed)
      const bytes = open.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0)
      quietLooks = bytes === before && !open.some(isWaitedFor) ? quietLooks + 1 : 0
      before = bytes
      if (quietLooks >= QUIET_LOOKS) server.closeIdleConnections()
    })
  }, 50)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

/** Whether a client still has to read, or to send its first request. Node counts both as idle. */
function isWaitedFor({ bytesRead, writableLength }: Socket): boolean {
  return bytesRead === 0 || writableLength > 0
}
