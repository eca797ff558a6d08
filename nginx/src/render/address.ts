import { createServer, isIPv6 } from 'node:net'

/** A TCP address. As something to listen on, port 0 means any free one. */
export interface Address {
  readonly host: string
  readonly port: number
  /** It speaks TLS: the certificate, in PEM. */
  readonly ca?: string
}

/** Where an app listens. */
export type Upstream = Pick<Address, 'host' | 'port'> | { readonly socketPath: string }

/** `127.0.0.1:8080` or `[::1]:8080`, as NGINX and URLs write it. */
export function formatAddress({ host, port }: Pick<Address, 'host' | 'port'>): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** What follows `listen`. NGINX takes `[::]` for IPv6 alone, unless it is told otherwise. */
export function formatListen(address: Pick<Address, 'host' | 'port'>): string {
  return formatAddress(address) + (address.host === '::' ? ' ipv6only=off' : '')
}

/** The way people and NGINX call an upstream: `127.0.0.1:3000` or `unix:/run/app.sock`. */
export function formatUpstream(upstream: Upstream): string {
  return 'socketPath' in upstream ? `unix:${upstream.socketPath}` : formatAddress(upstream)
}

/**
 * Reads `HOST:PORT`, `[IPV6]:PORT` or `:PORT` (on 127.0.0.1).
 * @throws {Error} saying what was expected
 */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) {
    throw new Error(`${JSON.stringify(text)} is not an address; write HOST:PORT, such as 127.0.0.1:8080.`)
  }
  return { host: match[1] || match[2] || '127.0.0.1', port }
}

/** Reads an upstream: an address, or the absolute path of a unix socket (with or without `unix:`). */
export function parseUpstream(text: string): Upstream {
  const path = text.startsWith('unix:') ? text.slice('unix:'.length) : text
  return path.startsWith('/') ? { socketPath: path } : parseAddress(text)
}

/**
 * Binds a port and releases it: the given one, or for port 0 a free one that the system picks.
 * @throws {NodeJS.ErrnoException} EADDRINUSE, EACCES and the like
 */
export function claimPort({ host, port }: Address): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      const bound = server.address()
      server.close(() => resolve(typeof bound === 'object' && bound !== null ? bound.port : port))
    })
  })
}
