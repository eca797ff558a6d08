import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyPluginAsync } from 'fastify'
import { createApp } from '../src/app.ts'
import { createOptions } from './options.ts'

/** As the documentation of Fastify reads a proxy's headers. */
const routes: FastifyPluginAsync = async (app) => {
  app.get('/who', async ({ ip, protocol, host, hostname }) => ({ ip, protocol, host, hostname }))
  app.get('/old', async (request, reply) => reply.redirect(`${request.protocol}://${request.host}/teas`))
}

/** The peer is a socket's other end, TRUST_PROXY is 10.0.0.0/8 and fd00::/8. */
const CASES: [what: string, peer: string, forwardedFor: string, client: string, isTrusted: boolean][] = [
  ['a trusted peer', '10.0.0.1', '203.0.113.7', '203.0.113.7', true],
  ['a trusted peer on a dual-stack socket', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7', true],
  ['a trusted IPv6 peer', 'fd00::1', '2001:db8::7', '2001:db8::7', true],
  [
    'a trusted peer, and an entry forged by the client',
    '10.0.0.1',
    '192.0.2.1, 203.0.113.7',
    '203.0.113.7',
    true,
  ],
  ['two proxies, and a forged entry', '10.0.0.1', '192.0.2.1, 203.0.113.7, 10.0.0.2', '203.0.113.7', true],
  ['a peer that is not trusted', '198.51.100.1', '203.0.113.7', '198.51.100.1', false],
  ['an IPv6 peer that is not trusted', '2001:db8::1', '203.0.113.7', '2001:db8::1', false],
]

const TRUST_PROXY = '10.0.0.0/8, fd00::/8'
const HEADERS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }

for (const [what, peer, forwardedFor, client, isTrusted] of CASES) {
  test(`a route and the log behind ${what}`, async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY })
    const app = createApp(options, routes)
    const headers = { ...HEADERS, 'x-forwarded-for': forwardedFor, host: 'app.internal:8080' }
    const response = await app.inject({ url: '/who', headers, remoteAddress: peer })
    const expected = isTrusted
      ? { protocol: 'https', host: 'shop.example', hostname: 'shop.example' }
      : { protocol: 'http', host: 'app.internal:8080', hostname: 'app.internal' }
    deepEqual(response.json(), { ip: client, ...expected })
    const [line] = await readLines(1)
    equal(line?.client, client)
    const { location } = (await app.inject({ url: '/old', headers, remoteAddress: peer })).headers
    equal(location, isTrusted ? 'https://shop.example/teas' : 'http://app.internal:8080/teas')
  })
}
