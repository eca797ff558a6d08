import type { Address, Upstream } from './address.ts'

/** How a request reaches the app through NGINX. `direct` is not in the list, because it needs no NGINX. */
export const TOPOLOGIES = ['nginx', 'nginx-naive', 'nginx-socket', 'nginx-tls'] as const
export type Topology = (typeof TOPOLOGIES)[number]

/** Also `fastcgi`, for a FastCGI responder instead of an HTTP server. Only the study nginx-proxy needs it, so it is not a topology. */
export type FrontKind = Topology | 'fastcgi'

/** A certificate with its chain, and its key: absolute paths of PEM files. */
export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** One port of an NGINX and the app behind it. One NGINX can have any number of fronts. */
export interface Front {
  /** Letters, digits, dots and dashes, different for each front of an NGINX: the upstream's name. */
  readonly name: string
  readonly topology: FrontKind
  /** Port 0: any free port; `Instance.addresses` says which. */
  readonly listen: Address
  /** A unix socket for `nginx-socket`, either for `fastcgi`, else an address. */
  readonly upstream: Upstream
  /** Further copies of the app, which take turns with it. Not for `nginx-naive`, which keeps no connections. */
  readonly copies?: readonly Upstream[]
  /**
   * NGINX repeats the lookup of the upstream's name while it runs, so the app may start later or move (`resolver`; NGINX 1.27.3 and
   * later). By default there is one lookup, at the start. Not for `nginx-naive`.
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

const TAKE_COPIES: ReadonlySet<FrontKind> = new Set(['nginx', 'nginx-socket', 'nginx-tls'])

/** @throws {Error} saying which front cannot work and why */
export function checkFronts(fronts: readonly Front[]): void {
  const names = new Set<string>()
  for (const front of fronts) {
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(front.name) || names.has(front.name)) {
      refuse(front, 'its name must be its own, of letters, digits, dots and dashes')
    }
    names.add(front.name)
    const upstreams = upstreamsOf(front)
    if (upstreams.length > 1 && !TAKE_COPIES.has(front.topology))
      refuse(front, `${front.topology} takes one app`)
    const takesSocket = front.topology === 'nginx-socket' || front.topology === 'fastcgi'
    const sockets = upstreams.flatMap((upstream) => ('socketPath' in upstream ? [upstream.socketPath] : []))
    if (sockets.length > 0 && !takesSocket) refuse(front, 'only nginx-socket takes a unix socket')
    if (sockets.length < upstreams.length && front.topology === 'nginx-socket')
      refuse(front, 'nginx-socket needs a unix socket')
    const { certificate } = front
    const files = certificate === undefined ? [] : [certificate.certificate, certificate.key]
    const paths = [front.serveAssets ?? '/', ...sockets, ...files]
    // A quote or a dollar would end the string in the configuration.
    if (paths.some((path) => !/^\/[^"'$\\{};,\s:]*$/.test(path))) {
      refuse(front, 'its paths must be absolute, without spaces, colons, commas, quotes, dollars or braces')
    }
  }
}

function refuse(front: Front, why: string): never {
  throw new Error(`Front ${JSON.stringify(front.name)} cannot work: ${why}.`)
}
