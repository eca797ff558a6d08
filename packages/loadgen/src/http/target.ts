import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { BlockList, type IPVersion, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { ConnectionOptions } from 'node:tls'
import { openConnection } from '@startgrid/wire/client.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'
import { LoadError } from '../engine/load-error.ts'

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
 * Opens one connection over TLS and closes it when the server has sent a session. In TLS 1.3 that is after the handshake.
 * @throws {LoadError} if it sends none within 5 s
 */
export async function openSession(target: Target, tls: ConnectionOptions | undefined): Promise<Buffer> {
  const socket = connect(target, undefined, tls)
  try {
    const [session] = await once(socket.resume(), 'session', { signal: AbortSignal.timeout(5_000) })
    return session as Buffer
  } catch (error) {
    throw new LoadError(`The server gives no session that could be resumed (${(error as Error).message}).`)
  } finally {
    socket.destroy()
  }
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

async function firstOpen<Place extends { host: string; port: number }>(
  candidates: readonly Place[],
): Promise<Place | undefined> {
  if (candidates.length > 1) {
    for (const candidate of candidates) {
      const { host, port } = candidate
      const connection = await openConnection({ host, port }, { timeoutMs: 5_000 }).catch(() => undefined)
      connection?.destroy()
      if (connection !== undefined) return candidate
    }
  }
  return candidates[0]
}
