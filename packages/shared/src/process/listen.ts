import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
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
 * @param server a `Server` of Node, unless there is `open`
 * @param open the framework's own method to listen, if it has one
 * @returns the address in use, such as `http://127.0.0.1:3000`
 * @throws {StartError} if it cannot listen
 */
export async function listen(
  server: { address(): unknown },
  config: Config,
  open: (place: Place) => Promise<unknown> = (place) => once((server as Server).listen(place), 'listening'),
): Promise<string> {
  const { host, port } = config
  try {
    // Look up the name here, because a framework may start one server per address of `localhost`.
    await open({ host: (await lookup(host)).address, port })
  } catch (error) {
    throw new StartError(listenFailure(error, config), { cause: error })
  }
  const { address, port: used } = server.address() as AddressInfo
  return formatAddress(address, used)
}

/** `http://host:port`, with brackets around IPv6. */
export function formatAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** One sentence: what happened, and what to do. */
export function listenFailure(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const place = `Port ${port} on ${host}`
  if (code === 'EADDRINUSE')
    return `${place} is in use by another process: stop that, or set PORT to another one (0 picks a free one).`
  if (code === 'EACCES') return `${place} may not be used by this user: choose a port from 1024 up.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is '${host}', but this machine does not have that address.`
  return `${place} cannot be used: ${error instanceof Error ? error.message : error}.`
}
