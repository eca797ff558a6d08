import { BlockList } from 'node:net'
import { networkInterfaces } from 'node:os'

/** For documentation (RFC 5737), so nobody's; but virtual machines have been seen in the first of these networks. */
const NOBODYS = ['192.0.2.1', '198.51.100.1', '203.0.113.1']

/** An address that is on no network of this machine. */
export function addressElsewhere(): string {
  const own = new BlockList()
  for (const { address, family, cidr } of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    if (family === 'IPv4') own.addSubnet(address, Number(cidr?.split('/')[1] ?? 32), 'ipv4')
  const found = NOBODYS.find((address) => !own.check(address, 'ipv4'))
  if (found === undefined) throw new Error('This machine is in all networks that are for documentation.')
  return found
}
