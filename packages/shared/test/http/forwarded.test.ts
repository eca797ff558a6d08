import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { readForwarded } from '../../src/http/forwarded.ts'
import { readLaunchConfig } from '../../src/launch/config.ts'
import { readConfig } from '../../src/process/config.ts'

const PROXY = '10.0.0.1'
const CLIENT = '203.0.113.7'

const CLIENTS: [
  what: string,
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
  client: string | undefined,
][] = [
  ['no header', PROXY, undefined, PROXY],
  ['an empty header', PROXY, '', PROXY],
  ['a trusted peer', PROXY, CLIENT, CLIENT],
  ['a peer that is not trusted', '198.51.100.1', CLIENT, '198.51.100.1'],
  ['what the client wrote itself', PROXY, `192.0.2.1, ${CLIENT}`, CLIENT],
  ['an address of ours that the client wrote itself', PROXY, `10.0.0.9, ${CLIENT}`, CLIENT],
  ['two private proxies', PROXY, `${CLIENT}, 10.0.0.2`, CLIENT],
  ['a public and a private proxy, and a forged entry', PROXY, `192.0.2.1, ${CLIENT}, 198.51.100.80`, CLIENT],
  ['repeated headers', PROXY, ['192.0.2.1', CLIENT], CLIENT],
  ['nothing but proxies', PROXY, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['no spaces', PROXY, `192.0.2.1,${CLIENT},10.0.0.2`, CLIENT],
  ['an empty entry', PROXY, `${CLIENT}, , 10.0.0.2`, CLIENT],
  ['a text that is not an address', PROXY, `${CLIENT}, unknown`, 'unknown'],
  ['IPv6', '::ffff:10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['an IPv6 proxy', 'fd00::1', `192.0.2.1, ${CLIENT}, fd00::2`, CLIENT],
  ['a peer without an address on TCP', undefined, CLIENT, undefined],
]

const TRUST_PROXY = '10.0.0.0/8, 198.51.100.80, fd00::/8'
const { trustProxy } = readConfig({ TRUST_PROXY })

for (const [what, peer, forwardedFor, client] of CLIENTS) {
  test(`the client behind ${what}`, () => {
    const getHeader = (name: string) => (name === 'x-forwarded-for' ? forwardedFor : undefined)
    equal(readForwarded(peer, getHeader, trustProxy).client, client)
  })
}

test('the client behind a proxy on our socket', () => {
  const { trustProxy } = readLaunchConfig({ SOCKET: '/run/app.sock', TRUST_PROXY })
  const getHeader = (name: string) => (name === 'x-forwarded-for' ? `192.0.2.1, ${CLIENT}` : undefined)
  equal(readForwarded(undefined, getHeader, trustProxy).client, CLIENT)
  equal(readForwarded(undefined, () => undefined, trustProxy).client, undefined)
})

const ORIGINS: [what: string, peer: string, proto: string, forwardedHost: string, origin: string][] = [
  ['a trusted peer', PROXY, 'https', 'shop.example:8443', 'https://shop.example:8443'],
  ['a trusted peer that writes in capitals', PROXY, 'HTTPS', 'SHOP.example', 'https://SHOP.example'],
  ['a trusted peer that names no host', PROXY, 'https', '', 'https://app.internal'],
  [
    'a trusted peer that names an IPv6 host',
    PROXY,
    'https',
    '[2001:db8::1]:443',
    'https://[2001:db8::1]:443',
  ],
  ['a chain', PROXY, 'https, http', 'forged.example, shop.example', 'http://shop.example'],
  ['a scheme and a host that are none', PROXY, 'javascript', 'a/b@c', 'http://app.internal'],
  ['a peer that is not trusted', '198.51.100.1', 'https', 'forged.example', 'http://app.internal'],
]

for (const [what, peer, proto, forwardedHost, origin] of ORIGINS) {
  test(`scheme and host behind ${what}`, () => {
    const headers = new Headers({
      host: 'app.internal',
      'x-forwarded-proto': proto,
      'x-forwarded-host': forwardedHost,
    })
    const { protocol, host } = readForwarded(peer, (name) => headers.get(name), trustProxy)
    equal(`${protocol}://${host}`, origin)
  })
}

test('without TRUST_PROXY, nothing of X-Forwarded-* counts', () => {
  const headers = { host: 'app.internal', 'x-forwarded-for': CLIENT, 'x-forwarded-proto': 'https' }
  deepEqual(
    readForwarded('127.0.0.1', (name) => new Headers(headers).get(name), readConfig({}).trustProxy),
    { client: '127.0.0.1', protocol: 'http', host: 'app.internal' },
  )
})
