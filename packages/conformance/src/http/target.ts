import { isIPv6, type NetConnectOpts } from 'node:net'
import type { Target } from '@startgrid/cli/arguments.ts'

export type { Target }

/** The value of the Host header (RFC 9110 section 7.2). A unix socket has no name of its own. */
export function authority(target: Target): string {
  if ('socketPath' in target) return 'localhost'
  return `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`
}

/** The target as a person would write it. */
export function formatTarget(target: Target): string {
  return 'socketPath' in target ? `unix:${target.socketPath}` : `http://${authority(target)}`
}

/** The target as node:net wants it. */
export function connectOptions(target: Target): NetConnectOpts {
  return 'socketPath' in target
    ? { path: target.socketPath }
    : { host: target.host, port: target.port, noDelay: true }
}
