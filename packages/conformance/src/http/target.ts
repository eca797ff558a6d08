import { isIPv6, type NetConnectOpts } from 'node:net'
import { UsageError } from '@startgrid/cli/arguments.ts'

/** Where the server listens. */
export type Target = { host: string; port: number } | { socketPath: string }

/**
 * Reads `http://host:port`.
 * @throws {UsageError} for anything that is not a plain-text HTTP origin
 */
export function parseTarget(text: string): { host: string; port: number } {
  const url = URL.parse(text)
  if (url?.protocol !== 'http:')
    throw new UsageError(`'${text}' is no http:// address, such as http://127.0.0.1:3000.`)
  if (url.pathname !== '/' || url.search !== '') {
    throw new UsageError(`'${text}' has a path: give only the origin, such as ${url.origin}.`)
  }
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) }
}

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
