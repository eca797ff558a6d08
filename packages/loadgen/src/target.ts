import { lookup } from 'node:dns/promises'
import { BlockList, type IPVersion, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { openConnection } from '@startgrid/wire/client.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { LoadError } from './plan.ts'

/**
 * Resolves a target's name once, so that no request pays for it, and rejects public addresses: load on somebody else's server
 * is an attack. If there are several addresses (`localhost` often has two), the first that accepts a connection is used.
 * @throws {LoadError} if the name is unknown, or an address is neither of this machine nor private
 */
export async function resolveTarget(target: Target): Promise<Target> {
  if ('socketPath' in target) return target
  const addresses = await addressesOf(target.host)
  const allowed = addressesAllowed()
  const other = addresses.find((address) => !allowed.check(address.replace(/%.*$/, ''), versionOf(address)))
  if (other !== undefined)
    throw new LoadError(
      `${other} is a public address: load only servers of this machine or of a private network.`,
    )
  for (const host of addresses.length > 1 ? addresses : []) {
    const connection = await openConnection({ host, port: target.port }, { timeoutMs: 5_000 }).catch(
      () => undefined,
    )
    connection?.destroy()
    if (connection !== undefined) return { ...target, host }
  }
  return { ...target, host: addresses[0] ?? target.host }
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
