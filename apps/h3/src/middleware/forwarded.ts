import type { IncomingMessage } from 'node:http'
import { readForwarded } from '#shared/http/forwarded.ts'
import type { Config } from '#shared/process/config.ts'

/**
 * srvx trusts all proxies or a list of addresses, and TRUST_PROXY may have networks. So its `trustProxy` is on, and the request keeps only
 * what a trusted proxy says: `event.url` and `event.req.ip` are the client's.
 */
export function keepTrusted({ headers, socket }: IncomingMessage, trusts: Config['trustProxy']): void {
  const { client, protocol, host } = readForwarded(socket.remoteAddress, (name) => headers[name], trusts)
  headers['x-forwarded-for'] = client
  headers['x-forwarded-proto'] = protocol
  headers['x-forwarded-host'] = host
}
