import type { IncomingMessage, Server } from 'node:http'
import type { Config } from '#shared/config.ts'
import { readForwarded } from '#shared/forwarded.ts'

/**
 * srvx trusts all proxies or a list of addresses, and TRUST_PROXY may have networks. So srvx trusts all, and a request keeps only what trusted
 * proxies say: `event.url` and `getRequestIP(event)` are those of the client.
 */
export function keepTrusted(server: Server, trusts: Config['TRUST_PROXY']): Server {
  if (trusts === false) return server
  return server.prependListener('request', (request: IncomingMessage) => {
    const { client, scheme, host } = readForwarded(request, trusts)
    const headers = { 'x-forwarded-for': client, 'x-forwarded-proto': scheme, 'x-forwarded-host': host }
    Object.assign(request.headers, headers)
  })
}
