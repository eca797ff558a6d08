import type { EventEmitter } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http'
import type { Config } from './config.ts'
import { readForwarded } from './forwarded.ts'
import { createProblem, PROBLEM } from './problem.ts'
import { requestId } from './request-id.ts'
import { SECURITY_HEADERS } from './security.ts'

/** What the recipes use of `ws`, which they install. */
interface Socket extends EventEmitter {
  close(code: number): void
  ping(): void
  terminate(): void
}

/** What `ws` gives to that option. */
type Decide = (isAllowed: boolean, status: number, body: string, headers: OutgoingHttpHeaders) => void

/** Bytes that may wait for a client that does not read. They are in memory: four messages of the largest size. */
export const MAX_WAITING = 262_144

/**
 * Of Node's server, since 24.9: any other upgrade is ignored, such as the `h2c` of Java's client, and the app responds as to a request without
 * it (RFC 9110, 7.8).
 */
export function acceptUpgrades(server: Server, ...paths: readonly string[]): void {
  const shouldUpgradeCallback = ({ method, url = '', headers, socket }: IncomingMessage) => {
    const isOurs =
      method === 'GET' &&
      headers.upgrade?.toLowerCase() === 'websocket' &&
      paths.includes(url.split('?', 1)[0] ?? '')
    // Who is refused by Hono's adapter can keep a connection that nobody reads, also when it has gone, and a stop would wait for it.
    if (isOurs) socket.once('finish', () => socket.destroy())
    return isOurs
  }
  Object.assign(server, { shouldUpgradeCallback })
}

/**
 * The option `verifyClient` of `ws`. A page of another site could open a WebSocket with the cookies of this one. What is not a browser sends no
 * `Origin`.
 * @param origins other sites that may, such as `https://app.example.com`
 */
export function refuseOtherSites({ TRUST_PROXY }: Config, origins: readonly string[] = []) {
  return ({ req }: { req: IncomingMessage }, done: Decide): void => {
    const { origin, 'x-request-id': id } = req.headers
    const { scheme, host } = readForwarded(req, TRUST_PROXY)
    const headers = { ...SECURITY_HEADERS, 'x-request-id': requestId(id), 'Content-Type': PROBLEM }
    const problem = JSON.stringify(createProblem(403, { detail: 'This WebSocket is from another site.' }))
    done(origin === undefined || [`${scheme}://${host}`, ...origins].includes(origin), 403, problem, headers)
  }
}

/** Pings WebSockets every 15 s, because NGINX closes a connection that is silent for 30 s, and closes them when the app stops. */
export function keepSockets(
  server: EventEmitter & { clients: Iterable<Socket>; close(): void },
  signal: AbortSignal,
): void {
  const unheard = new WeakSet<Socket>()
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {}) // a message that is too long, or a broken connection: `ws` closes it
    socket.on('pong', () => unheard.delete(socket))
  })
  const pings = setInterval(() => {
    for (const socket of server.clients) {
      if (unheard.has(socket)) socket.terminate() // it has gone, or does not read
      unheard.add(socket)
      socket.ping()
    }
  }, 15_000).unref()

  signal.addEventListener('abort', () => {
    clearInterval(pings)
    server.close() // accepts no more
    for (const socket of server.clients) socket.close(1001) // clients connect again elsewhere
    setTimeout(() => {
      for (const socket of server.clients) socket.terminate() // those that do not reply
    }, 2_000)
  })
}
