import type { IncomingMessage } from 'node:http'
import proxyaddr from 'proxy-addr'
import type { Config } from '../process/config.ts'
import { isHost } from './validate-request.ts'

/** What the client sent to the first proxy. */
export interface Forwarded {
  /** The client's address, or what the proxies say instead; undefined for a peer that has none and names none. */
  client: string | undefined
  protocol: 'http' | 'https'
  /** Name and port, as in the Host header; empty for HTTP/1.0 without one. */
  host: string
}

/**
 * For frameworks without a setting of their own. The peer's X-Forwarded-* count only if it is a trusted proxy. Each proxy appends the
 * address that it saw, so the client is the last one that is not a trusted proxy. Of other lists, the last entry is the peer's own.
 * @param peer the address of the other end of the connection; undefined if it has none
 * @param getHeader returns a header by its lower-case name; repeated ones are joined by commas
 */
export function readForwarded(
  peer: string | undefined,
  getHeader: (name: string) => string | string[] | null | undefined,
  trusts: Config['trustProxy'],
): Forwarded {
  const read = (name: string) => String(getHeader(name) ?? '')
  const host = read('host')
  if (trusts === false || !trusts(peer, 0)) return { client: peer, protocol: 'http', host }
  const headers = { 'x-forwarded-for': read('x-forwarded-for') }
  const request = { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage
  const forwardedHost = lastOf(read('x-forwarded-host'))
  return {
    client: proxyaddr(request, trusts),
    protocol: lastOf(read('x-forwarded-proto')).toLowerCase() === 'https' ? 'https' : 'http',
    host: forwardedHost !== '' && isHost(forwardedHost) ? forwardedHost : host,
  }
}

function lastOf(list: string): string {
  return list.slice(list.lastIndexOf(',') + 1).trim()
}
