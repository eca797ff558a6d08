import { connect as connectTcp, isIPv6, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { certificateCheck, type Target } from '@startgrid/cli/arguments.ts'

export type { Target }

/** The value of the Host header (RFC 9110 section 7.2). A unix socket has no name of its own. */
export function authority(target: Target): string {
  if ('socketPath' in target) return 'localhost'
  return `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`
}

/** The target as a person would write it. */
export function formatTarget(target: Target): string {
  if ('socketPath' in target) return `unix:${target.socketPath}`
  return `${target.ca === undefined ? 'http' : 'https'}://${authority(target)}`
}

/** Connects. @param onReady called once requests can be sent: over TLS after the handshake */
export function connect(target: Target, onReady: () => void): Socket {
  if ('socketPath' in target) return connectTcp({ path: target.socketPath }, onReady)
  const { host, port, ca } = target
  return ca === undefined
    ? connectTcp({ host, port, noDelay: true }, onReady)
    : connectTls(
        { host, port, ...certificateCheck(target), ALPNProtocols: ['http/1.1'] },
        onReady,
      ).setNoDelay()
}

/** `TLSv1.3, TLS_AES_256_GCM_SHA384, ALPN h2`; undefined without TLS. */
export function describeTls(socket: unknown): string | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  return `${socket.getProtocol()}, ${socket.getCipher().name}, ALPN ${socket.alpnProtocol || 'not used'}`
}
