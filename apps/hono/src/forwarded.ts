import type { IncomingMessage, Server } from 'node:http'
import type { Context } from 'hono'
import type { Config } from '#shared/config.ts'
import { readForwarded } from '#shared/forwarded.ts'

/** The address of the client, also behind a trusted proxy. Hono's `getConnInfo(c)` has the proxy's. */
export function clientOf(c: Context): string | undefined {
  return readForwarded(c.env.incoming, c.get('config').TRUST_PROXY).client
}

/**
 * Makes a forwarded target absolute: of that, the adapter makes `c.req.url`. Hono has no setting for proxies, and
 * https://hono.dev/examples/behind-reverse-proxy believes any peer, and makes a second Request of each.
 */
export function takeOrigin(server: Server, trusts: Config['TRUST_PROXY']): Server {
  return server.prependListener('request', (incoming: IncomingMessage) => {
    const { scheme, host } = readForwarded(incoming, trusts)
    const isForwarded = scheme !== 'http' || host !== incoming.headers.host
    if (host !== '' && isForwarded) incoming.url = `${scheme}://${host}${incoming.url}`
  })
}
