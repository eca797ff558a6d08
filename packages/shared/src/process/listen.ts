import cluster from 'node:cluster'
import { once } from 'node:events'
import { existsSync, rmSync, statSync } from 'node:fs'
import { Server as HttpServer, type ServerOptions } from 'node:http'
import { connect, type Server } from 'node:net'
import { dirname } from 'node:path'
import { HEADER_LIMIT } from '../http/contract.ts'
import { type Config, StartError } from './config.ts'

/**
 * Of every `http.Server`. Keep-alive outlives NGINX's (60 s), or NGINX reuses a connection that was just closed: 502. The other times
 * cut off who sends at a trickle: headers fit one packet or a few, and 64 KiB of body take 13 s at 40 kbit/s. They count from the
 * first byte of a request, so that they need not be longer than keep-alive (as they had to be before Node 18).
 */
export const SERVER_OPTIONS = {
  keepAliveTimeout: 65_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: HEADER_LIMIT,
  // A second Host or X-Request-Id is seen, as "a, b", instead of dropped.
  joinDuplicateHeaders: true,
} as const satisfies ServerOptions

/**
 * Milliseconds for which a client may neither take nor send a byte before it is cut off, above those that its handler may be silent
 * (or the 503 of that would never leave). Nothing else in Node ends a client that does not read; NGINX's `send_timeout` is 30 s too.
 */
const STALL_MS = 10_000

/**
 * Listens where the configuration says.
 * @returns `http://host:port` or `unix:path`
 * @throws {StartError} if it cannot
 */
export async function listen(server: Server, config: Config): Promise<string> {
  const { host, port, socket } = config
  if (socket !== undefined) await removeStaleSocket(socket)
  if (server instanceof HttpServer) server.setTimeout(config.handlerTimeoutMs + STALL_MS)
  // Not in the primary, which listens for a moment to see whether the port is free.
  const reusePort = config.cluster === 'reuse-port' && cluster.isWorker
  try {
    server.listen(socket === undefined ? { host, port, reusePort } : { path: socket })
    await once(server, 'listening')
  } catch (error) {
    throw new StartError(listenFailure(error, config), { cause: error })
  }
  const address = server.address()
  if (typeof address === 'string' || address === null) return `unix:${address}`
  return formatAddress(address.address, address.port)
}

/** `http://host:port`, with brackets around IPv6. */
export function formatAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** One sentence: what happened and what to do. */
export function listenFailure(error: unknown, { host, port, socket }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const place = socket === undefined ? `Port ${port} on ${host}` : `The socket ${socket}`
  if (code === 'EADDRINUSE') {
    const cure =
      socket === undefined ? 'set PORT to another one (0 picks a free one)' : 'set SOCKET to another path'
    return `${place} is in use by another process: stop that, or ${cure}.`
  }
  // Runtimes disagree on its code: EACCES or ENOENT.
  if (socket !== undefined && !existsSync(dirname(socket)))
    return `The directory of ${socket} does not exist: make it, or set SOCKET to another path.`
  if (code === 'EACCES')
    return `${place} may not be used by this user: choose ${socket ? 'another path' : 'a port from 1024 up'}.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is '${host}', which is no address of this machine.`
  return `${place} cannot be used: ${error instanceof Error ? error.message : error}.`
}

/**
 * A process that was killed leaves its socket file behind, and `listen` would call it in use.
 * @throws {StartError} if the path is that of something else
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) return
    // Linux refuses a connection to a plain file in the same way.
    if (!statSync(path).isSocket())
      throw new StartError(`SOCKET is '${path}', which exists and is no socket.`)
    rmSync(path)
  } finally {
    probe.destroy()
  }
}
