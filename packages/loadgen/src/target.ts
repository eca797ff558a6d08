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
  const found = await lookup(target.host, { all: true }).catch(() => [])
  const [first] = found
  if (first === undefined) throw new LoadError(`The name ${target.host} has no address: check its spelling.`)
  const allowed = addressesAllowed()
  const other = found.find(({ address }) => !allowed.check(address.replace(/%.*$/, ''), versionOf(address)))
  if (other !== undefined)
    throw new LoadError(
      `${other.address} is a public address: load only servers of this machine or of a private network.`,
    )
  for (const { address } of found.length > 1 ? found : []) {
    const { port } = target
    const connecting = openConnection({ host: address, port }, { timeoutMs: 5_000 })
    const connection = await connecting.catch(() => undefined)
    connection?.destroy()
    if (connection !== undefined) return { ...target, address }
  }
  return { ...target, address: first.address }
}

const PRIVATE = [
  '127.0.0.0/8 ::1/128', // loopback
  '0.0.0.0/32 ::/128', // unspecified, which connects to loopback
  '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7', // RFC 1918 and 4193
  '169.254.0.0/16 fe80::/10', // of one link: RFC 3927 and 4291
  '100.64.0.0/10', // shared by a provider's customers: RFC 6598
]

/** What is private, and what this machine's interfaces have. */
function addressesAllowed(): BlockList {
  const allowed = new BlockList()
  for (const subnet of PRIVATE.flatMap((line) => line.split(' '))) {
    const [net = '', prefix] = subnet.split('/')
    allowed.addSubnet(net, Number(prefix), versionOf(net))
  }
  for (const { address } of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    allowed.addAddress(address.replace(/%.*$/, ''), versionOf(address))
  return allowed
}

function versionOf(address: string): IPVersion {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
