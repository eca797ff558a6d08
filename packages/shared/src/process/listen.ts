import cluster from 'node:cluster'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, connect, type Server } from 'node:net'
import { dirname } from 'node:path'
import { type Config, StartError } from './config.ts'

/** The options of `server.listen`. */
export interface Place {
  host?: string
  port?: number
  reusePort?: boolean
  path?: string
}

/**
 * Listens at the address of the configuration.
 * @param open the framework's own method to listen, if it has one
 * @returns the address in use, such as `http://127.0.0.1:3000`
 * @throws {StartError} if it cannot listen
 */
export async function listen(
  server: Server,
  config: Config,
  open: (place: Place) => Promise<unknown> = (place) => once(server.listen(place), 'listening'),
): Promise<string> {
  const { host, port, socket } = config
  if (socket !== undefined) await removeStaleSocket(socket)
  // Not in the primary: it listens for a moment to check that the port is free.
  const reusePort = config.cluster === 'reuse-port' && cluster.isWorker
  try {
    // Look up the name here, because a framework may start one server per address of `localhost`.
    await open(
      socket === undefined ? { host: (await lookup(host)).address, port, reusePort } : { path: socket },
    )
  } catch (error) {
    throw new StartError(listenFailure(error, config), { cause: error })
  }
  if (socket !== undefined) return `unix:${socket}`
  const { address, port: used } = server.address() as AddressInfo
  return formatAddress(address, used)
}

/** `http://host:port`, with brackets around IPv6. */
export function formatAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** One sentence: what happened, and what to do. */
export function listenFailure(error: unknown, { host, port, socket }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const place = socket === undefined ? `Port ${port} on ${host}` : `The socket ${socket}`
  if (code === 'EADDRINUSE')
    return `${place} is in use by another process: stop that, or set ${socket ? 'SOCKET to another path' : 'PORT to another one (0 picks a free one)'}.`
  // The error code differs between runtimes: EACCES or ENOENT.
  if (socket !== undefined && !existsSync(dirname(socket)))
    return `The directory of ${socket} does not exist: make it, or set SOCKET to another path.`
  if (code === 'EACCES')
    return `${place} may not be used by this user: choose ${socket ? 'another path' : 'a port from 1024 up'}.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is '${host}', but this machine does not have that address.`
  return `${place} cannot be used: ${error instanceof Error ? error.message : error}.`
}

/**
 * Removes the socket file of a killed process. Otherwise `listen` would report that the address is in use.
 * @throws {StartError} if the path belongs to something else
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) return
    // On Linux, connecting to a plain file fails with the same error.
    if (!statSync(path).isSocket())
      throw new StartError(`SOCKET is '${path}', which exists but is not a socket.`)
    rmSync(path)
  } finally {
    probe.destroy()
  }
}
