import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddress } from '../../src/http/client-address.ts'
import { readConfig } from '../../src/process/config.ts'

const PROXY = '10.0.0.1'
const CLIENT = '203.0.113.7'

const CASES: [
  what: string,
  peer: string | undefined,
  header: string | string[] | undefined,
  client: string | undefined,
][] = [
  ['no header', PROXY, undefined, PROXY],
  ['an empty header', PROXY, '', PROXY],
  ['a trusted peer', PROXY, CLIENT, CLIENT],
  ['a peer that is not trusted', '198.51.100.1', CLIENT, '198.51.100.1'],
  ['what the client wrote itself', PROXY, `192.0.2.1, ${CLIENT}`, CLIENT],
  ['an address of ours that the client wrote itself', PROXY, `10.0.0.9, ${CLIENT}`, CLIENT],
  ['two proxies', PROXY, `${CLIENT}, 10.0.0.2`, CLIENT],
  ['repeated headers', PROXY, ['192.0.2.1', CLIENT], CLIENT],
  ['nothing but proxies', PROXY, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['no spaces', PROXY, `192.0.2.1,${CLIENT},10.0.0.2`, CLIENT],
  ['an empty entry', PROXY, `${CLIENT}, , 10.0.0.2`, '10.0.0.2'],
  ['a text that is not an address', PROXY, `${CLIENT}, unknown`, 'unknown'],
  ['IPv6', '::ffff:10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['a peer without an address on TCP', undefined, CLIENT, undefined],
]

for (const [what, peer, header, client] of CASES) {
  test(`the client behind ${what}`, () => {
    equal(clientAddress(peer, header, readConfig({ TRUST_PROXY: '10.0.0.0/8' }).trustProxy), client)
  })
}

test('the client behind a proxy on our socket', () => {
  const { trustProxy } = readConfig({ SOCKET: '/run/app.sock', TRUST_PROXY: 'loopback' })
  equal(clientAddress(undefined, `192.0.2.1, ${CLIENT}`, trustProxy), CLIENT)
  equal(clientAddress(undefined, undefined, trustProxy), undefined)
})
