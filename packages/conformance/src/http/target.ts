import { connect as connectTcp, isIPv6, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Target } from '@startgrid/cli/arguments.ts'

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
  const { ca, ...address } = target
  return ca === undefined
    ? connectTcp({ ...address, noDelay: true }, onReady)
    : connectTls({ ...address, ca, ALPNProtocols: ['http/1.1'] }, onReady).setNoDelay()
}
