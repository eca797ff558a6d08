import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import proxyaddr from 'proxy-addr'
import type { Config } from './config.ts'

/** What the client sent to the first proxy. */
export interface Forwarded {
  /** Its address; undefined on a unix socket. */
  client: string | undefined
  scheme: string
  /** Name and port, as in the Host header. */
  host: string
}

/**
 * For frameworks without a setting of their own. X-Forwarded-* count only if the peer is a trusted proxy. The client is the last address that
 * is not a trusted proxy. Of the scheme and the host, the last one is the peer's own.
 */
export function readForwarded(
  { headers, socket }: { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } },
  trusts: Config['TRUST_PROXY'],
): Forwarded {
  const host = headers.host ?? ''
  if (trusts === false || !trusts(socket.remoteAddress, 0))
    return { client: socket.remoteAddress, scheme: 'http', host }
  const request = { headers, socket } as IncomingMessage
  dropPorts(request)
  return {
    client: proxyaddr(request, trusts),
    scheme: lastOf(headers['x-forwarded-proto']) ?? 'http',
    host: lastOf(headers['x-forwarded-host']) ?? host,
  }
}

/** Gives a URL the origin that the client asked for. A value that is not valid changes nothing. */
export function setOrigin(url: URL, { scheme, host }: Forwarded): URL {
  return Object.assign(url, { protocol: scheme, port: '', host })
}

/** Some proxies name the client with its port: `203.0.113.7:4711`, `[2001:db8::7]:4711`. Afterwards X-Forwarded-For has addresses only. */
export function dropPorts({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const list = headers['x-forwarded-for']?.toString()
  if (list?.includes(':'))
    headers['x-forwarded-for'] = list.replaceAll(/\[([\da-f:.]+)\](?::\d+)?|((?:\d+\.){3}\d+):\d+/gi, '$1$2')
}

function lastOf(list: string | string[] | undefined): string | undefined {
  return list?.toString().split(/ *, */).at(-1) || undefined // a proxy may send it empty
}
