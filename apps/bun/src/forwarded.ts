import type { Server } from 'bun'
import type { Config } from '#shared/config.ts'
import { type Forwarded, readForwarded } from '#shared/forwarded.ts'

/**
 * The client's address, scheme and host. Bun has no setting for proxies: behind one, `request.url` starts with `http:`, and
 * `server.requestIP()` is the proxy.
 */
export function forwardedOf(
  request: Request,
  server: Pick<Server<never>, 'requestIP'>,
  { TRUST_PROXY }: Pick<Config, 'TRUST_PROXY'>,
): Forwarded {
  const socket = { remoteAddress: server.requestIP(request)?.address }
  return readForwarded({ headers: request.headers.toJSON(), socket }, TRUST_PROXY)
}
