import { connect as connectTcp, isIP, isIPv6, type Socket, type SocketConstructorOpts } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls'

/**
 * Where a server listens. With `ca`, it speaks TLS: its certificate must be by this authority, in PEM, or by anybody (null).
 * With `address`, `host` is not looked up again.
 */
export type Target =
  | { host: string; port: number; ca?: string | null; address?: string }
  | { socketPath: string }

/** A URL that stands for no target; the message is a sentence. */
export class TargetError extends Error {
  override name = 'TargetError'
}

/**
 * Where the server of an http or https URL listens. Its certificate is checked as Node does by default.
 * @param insecure `--insecure`: a server on loopback may have any certificate
 * @throws {TargetError} for `insecure` elsewhere, or without TLS
 */
export function targetOf({ protocol, hostname, port, origin }: URL, insecure = false) {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (insecure && !(protocol === 'https:' && /^(?:localhost|127\..*|::1)$/.test(host)))
    throw new TargetError(`--insecure is for https:// on this machine's loopback, not for ${origin}.`)
  if (protocol === 'http:') return { host, port: Number(port || 80) }
  const ca = insecure ? null : getCACertificates('default').join('\n')
  return { host, port: Number(port || 443), ca }
}

/** The value of the Host header (RFC 9110 section 7.2). A unix socket has no name of its own. */
export function authority(target: Target): string {
  if ('socketPath' in target) return 'localhost'
  const host = isIPv6(target.host) ? `[${target.host}]` : target.host
  return target.port === (target.ca === undefined ? 80 : 443) ? host : `${host}:${target.port}`
}

/** The target as a person would write it. */
export function formatTarget(target: Target): string {
  if ('socketPath' in target) return `unix:${target.socketPath}`
  return `${target.ca === undefined ? 'http' : 'https'}://${authority(target)}`
}

/** One for all connections with the same authorities, because to parse those takes milliseconds. */
const contexts = new Map<string | null, SecureContext>()

/**
 * Connects.
 * @param onReady called once requests can be sent: over TLS after the handshake
 * @param options further ones of the socket
 */
export function connect(
  target: Target,
  onReady?: () => void,
  options: Pick<SocketConstructorOpts, 'onread'> = {},
): Socket {
  const own = { noDelay: true, ...options }
  if ('socketPath' in target) return connectTcp({ ...own, path: target.socketPath }, onReady)
  const { host, port, ca, address = host } = target
  const all = { ...own, host: address, port }
  if (ca === undefined) return connectTcp(all, onReady)
  const secureContext = contexts.get(ca) ?? createSecureContext({ ca: ca ?? undefined })
  contexts.set(ca, secureContext)
  // An address is no name that a client may send (RFC 6066 section 3).
  const name = isIP(host) === 0 && { servername: host }
  const tls = { secureContext, ALPNProtocols: ['http/1.1'], rejectUnauthorized: ca !== null }
  return connectTls({ ...all, ...name, ...tls }, onReady)
}

/** Such as `TLSv1.3, TLS_AES_256_GCM_SHA384, X25519, http/1.1`; undefined without TLS. */
export function describeTls(socket: Socket): string | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  const exchange = socket.getEphemeralKeyInfo()
  const group = exchange !== null && 'name' in exchange ? exchange.name : 'unknown group'
  const { name } = socket.getCipher()
  return [socket.getProtocol(), name, group, socket.alpnProtocol || 'no ALPN'].join(', ')
}
