import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { BlockList, connect, type IPVersion, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls'
import { certificateCheck, type Target } from '@startgrid/cli/arguments.ts'
import { LoadError } from '../engine/load-error.ts'

export type { Target }

/**
 * Resolves a target's name once, so that no request pays for it, and rejects public addresses: load on somebody else's server
 * is an attack. If there are several addresses (`localhost` often has two), the first that accepts a connection is used.
 * @throws {LoadError} if the name is unknown, or an address is neither of this machine nor private
 */
export async function resolveTarget(target: Target): Promise<Target> {
  if ('socketPath' in target) {
    if (/^[^\0]+$/.test(target.socketPath)) return target
    throw new LoadError(`${JSON.stringify(target.socketPath)} is not the path of a socket.`)
  }
  const { host, port, ...secure } = target
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new LoadError(`The port is ${port}, but must be a whole number from 1 to 65535.`)
  }
  const candidates = (await addressesOf(host)).map((address) => ({ host: address, port, ...secure }))
  const allowed = addressesAllowed()
  for (const { host: address } of candidates) {
    if (allowed.check(address.replace(/%.*$/, ''), versionOf(address))) continue
    const name = address === host ? host : `${host} (${address})`
    throw new LoadError(
      `${name} is a public address: load only servers of this machine or of a private network.`,
    )
  }
  return (await firstOpen(candidates)) ?? target
}

/**
 * Opens one connection and closes it again.
 * @param tls as `secureOptions` says
 * @returns the error (such as `ECONNREFUSED`) if no server accepts it; otherwise undefined
 */
export function probe(target: Target, tls?: TlsOptions): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const options = connectOptions(target)
    const socket = tls ? connectTls({ ...options, ...tls }) : connect(options)
    socket.setTimeout(5_000, () => socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })))
    socket.once('error', resolve)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      socket.destroy()
      resolve(undefined)
    })
  })
}

/** The target as `node:net` takes it. */
export function connectOptions(target: Target): { path: string } | { host: string; port: number } {
  return 'socketPath' in target ? { path: target.socketPath } : { host: target.host, port: target.port }
}

/**
 * How connections to a target speak TLS; undefined without.
 * @param target as its URL names it, since its certificate has that name
 */
export function secureOptions(target: Target): TlsOptions | undefined {
  if ('socketPath' in target || target.ca === undefined) return undefined
  return { ...certificateCheck(target), ALPNProtocols: ['http/1.1'] }
}

/**
 * Opens one connection over TLS and closes it when the server has sent a session. In TLS 1.3 that is after the handshake.
 * @throws {LoadError} if it sends none within 5 s
 */
export async function openSession(target: Target, tls: TlsOptions | undefined): Promise<Buffer> {
  const socket = connectTls({ ...connectOptions(target), ...tls })
  try {
    const [session] = await once(socket.resume(), 'session', { signal: AbortSignal.timeout(5_000) })
    return session as Buffer
  } catch (error) {
    throw new LoadError(`The server gives no session that could be resumed (${(error as Error).message}).`)
  } finally {
    socket.destroy()
  }
}

/** The target as a `host` header names it. */
export function hostHeader(target: Target): string {
  if ('socketPath' in target) return 'localhost'
  const host = isIP(target.host) === 6 ? `[${target.host}]` : target.host
  return target.port === (target.ca === undefined ? 80 : 443) ? host : `${host}:${target.port}`
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    throw new LoadError(`The name ${host} has no address: check its spelling.`)
  }
}

function versionOf(address: string): IPVersion {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** RFC 1918, 3927, 4193, 4291 and 6598, loopback, and the unspecified address (which connects to loopback). */
const PRIVATE = [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
  ['0.0.0.0', 32],
  ['::1', 128],
  ['::', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const

/** What is private, and what this machine's interfaces have. */
function addressesAllowed(): BlockList {
  const allowed = new BlockList()
  for (const [net, prefix] of PRIVATE) allowed.addSubnet(net, prefix, versionOf(net))
  for (const { address } of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    allowed.addAddress(address.replace(/%.*$/, ''), versionOf(address))
  return allowed
}

async function firstOpen(candidates: readonly Target[]): Promise<Target | undefined> {
  if (candidates.length > 1) {
    for (const candidate of candidates) {
      if ((await probe(candidate)) === undefined) return candidate
    }
  }
  return candidates[0]
}
