import type { Address, Upstream } from './address.ts'

/** How a request reaches the app through NGINX; `direct` is not NGINX's business. */
export const TOPOLOGIES = ['nginx', 'nginx-naive', 'nginx-socket'] as const
export type Topology = (typeof TOPOLOGIES)[number]

/** One port of an NGINX and the app behind it. One NGINX can have any number of fronts. */
export interface Front {
  /** Letters, digits, dots and dashes, different for each front of an NGINX: the upstream's name. */
  readonly name: string
  readonly topology: Topology
  /** Port 0: any free port; `Instance.addresses` says which. */
  readonly listen: Address
  /** A unix socket for `nginx-socket`, else an address. */
  readonly upstream: Upstream
  /** Absolute path of the ssr app's hashed files, if NGINX is to serve /assets/ itself. */
  readonly serveAssets?: string
}

/** @throws {Error} saying which front cannot work and why */
export function checkFronts(fronts: readonly Front[]): void {
  const names = new Set<string>()
  for (const front of fronts) {
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(front.name) || names.has(front.name)) {
      refuse(front, 'its name must be its own, of letters, digits, dots and dashes')
    }
    names.add(front.name)
    const socket = 'socketPath' in front.upstream
    if (socket && front.topology !== 'nginx-socket') refuse(front, 'only nginx-socket takes a unix socket')
    if (!socket && front.topology === 'nginx-socket') refuse(front, 'nginx-socket needs a unix socket')
    const paths = [front.serveAssets ?? '/', 'socketPath' in front.upstream ? front.upstream.socketPath : '/']
    // A quote or a dollar would end the string in the configuration, a comma Docker's --mount.
    if (paths.some((path) => !/^\/[^"'$\\{};,\s:]*$/.test(path))) {
      refuse(front, 'its paths must be absolute, without spaces, colons, commas, quotes, dollars or braces')
    }
  }
}

function refuse(front: Front, why: string): never {
  throw new Error(`Front ${JSON.stringify(front.name)} cannot work: ${why}.`)
}
