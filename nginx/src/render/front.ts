import type { Address, Upstream } from './address.ts'

/** How a request reaches the app through NGINX. `direct` is not in the list, because it needs no NGINX. */
export const TOPOLOGIES = ['nginx', 'nginx-tls'] as const
export type Topology = (typeof TOPOLOGIES)[number]

/** A certificate with its chain, and its key: absolute paths of PEM files. */
export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** One port of an NGINX and the app behind it. One NGINX can have any number of fronts. */
export interface Front {
  /** Letters, digits, dots and dashes, different for each front of an NGINX: the upstream's name. */
  readonly name: string
  readonly topology: Topology
  /** Port 0: any free port; `Instance.addresses` says which. */
  readonly listen: Address
  readonly upstream: Upstream
  /** Further copies of the app, which share the requests with it. */
  readonly copies?: readonly Upstream[]
  /**
   * NGINX repeats the lookup of the upstream's name while it runs, so the app may start later or move (`resolver`; NGINX 1.27.3 and
   * later). By default there is one lookup, at the start.
   */
  readonly discovered?: boolean
  /** For `nginx-tls`. Default: one for this machine, made when NGINX starts. */
  readonly certificate?: Certificate
  /** Absolute path of the ssr app's hashed files, if NGINX is to serve /assets/ itself. */
  readonly serveAssets?: string
}

/** The app and its copies. */
export function upstreamsOf({ upstream, copies = [] }: Front): Upstream[] {
  return [upstream, ...copies]
}

/** @throws {Error} saying which front cannot work and why */
export function checkFronts(fronts: readonly Front[]): void {
  const names = new Set<string>()
  for (const front of fronts) {
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(front.name) || names.has(front.name)) {
      refuse(front, 'its name must be its own, of letters, digits, dots and dashes')
    }
    names.add(front.name)
    const sockets = upstreamsOf(front).flatMap((one) => ('socketPath' in one ? [one.socketPath] : []))
    const { certificate, serveAssets = '/' } = front
    const files = certificate === undefined ? [] : [certificate.certificate, certificate.key]
    // They stand between double quotes in the configuration.
    if ([serveAssets, ...sockets, ...files].some((path) => !/^\/[^"$\\\p{Cc}]*$/u.test(path)))
      refuse(front, 'its paths must be absolute, without double quotes, dollars and backslashes')
  }
}

function refuse(front: Front, why: string): never {
  throw new Error(`Front ${JSON.stringify(front.name)} cannot work: ${why}.`)
}
