import type { Server } from 'bun'
import { type Forwarded, readForwarded } from '#shared/http/forwarded.ts'
import type { Config } from '#shared/process/config.ts'

/**
 * Scheme, host and client of a request. Bun has no setting for proxies: behind one, `request.url` starts with `http:`, and
 * `server.requestIP()` is the proxy.
 */
export function forwardedOf(
  request: Request,
  server: Pick<Server<unknown>, 'requestIP'>,
  { trustProxy }: Pick<Config, 'trustProxy'>,
): Forwarded {
  return readForwarded(server.requestIP(request)?.address, (name) => request.headers.get(name), trustProxy)
}
