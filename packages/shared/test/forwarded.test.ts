import { deepEqual, equal } from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { Settings } from '../src/config.ts'
import { readForwarded } from '../src/forwarded.ts'

const PROXY = '10.0.0.1'
const CLIENT = '203.0.113.7'
const { TRUST_PROXY } = Settings.parse({ TRUST_PROXY: '10.0.0.0/8, 198.51.100.80, fd00::/8' })

const requestOf = (remoteAddress: string | undefined, headers: IncomingMessage['headers']) =>
  ({ headers: { host: 'app.internal', ...headers }, socket: { remoteAddress } }) as IncomingMessage

const CLIENTS: [what: string, peer: string, forwardedFor: string | undefined, client: string][] = [
  ['no header', PROXY, undefined, PROXY],
  ['a trusted peer', PROXY, CLIENT, CLIENT],
  ['a peer that is not trusted', '198.51.100.1', CLIENT, '198.51.100.1'],
  ['what the client wrote itself', PROXY, `192.0.2.1, ${CLIENT}`, CLIENT],
  ['a public and a private proxy, and a forged entry', PROXY, `192.0.2.1, ${CLIENT}, 198.51.100.80`, CLIENT],
  ['nothing but proxies', PROXY, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['an IPv6 proxy', 'fd00::1', `192.0.2.1, ${CLIENT}, fd00::2`, CLIENT],
]

for (const [what, peer, forwardedFor, client] of CLIENTS)
  test(`the client behind ${what}`, () => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    equal(readForwarded(requestOf(peer, headers), TRUST_PROXY).client, client)
  })

test('scheme and host are what the last proxy says, if it is trusted', () => {
  const headers = { 'x-forwarded-proto': 'http, https', 'x-forwarded-host': 'forged.example, shop.example' }
  const own = { scheme: 'http', host: 'app.internal' }
  for (const [peer, trusts, expected] of [
    [PROXY, TRUST_PROXY, { client: PROXY, scheme: 'https', host: 'shop.example' }],
    ['198.51.100.1', TRUST_PROXY, { client: '198.51.100.1', ...own }],
    [PROXY, false, { client: PROXY, ...own }],
    [undefined, TRUST_PROXY, { client: undefined, ...own }],
  ] as const)
    deepEqual(readForwarded(requestOf(peer, headers), trusts), expected)
})
