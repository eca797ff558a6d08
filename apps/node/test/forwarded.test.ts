import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '#shared/http/testing.ts'
import { readLaunchConfig } from '#shared/launch/config.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import { route } from '../src/router.ts'

const routes = [
  route('GET', '/who', (context) => {
    const { client, protocol, host } = context
    context.json({ client, protocol, host })
  }),
  route('GET', '/old', ({ response, protocol, host }) => {
    response.writeHead(302, { location: `${protocol}://${host}/teas` }).end()
  }),
]

/** The peer is the other end of the connection; on a unix socket it has no address. */
const CASES: [
  what: string,
  peer: string | undefined,
  forwardedFor: string,
  client: string,
  isTrusted: boolean,
][] = [
  ['a trusted peer on a dual-stack socket', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7', true],
  ['a trusted IPv6 peer', 'fd00::1', '2001:db8::7', '2001:db8::7', true],
  ['two proxies, and a forged entry', '10.0.0.1', '192.0.2.1, 203.0.113.7, 10.0.0.2', '203.0.113.7', true],
  ['a peer on our unix socket', undefined, '192.0.2.1, 203.0.113.7', '203.0.113.7', true],
  ['a peer that is not trusted', '198.51.100.1', '203.0.113.7', '198.51.100.1', false],
]

const TRUST_PROXY = '10.0.0.0/8, fd00::/8'
const HEADERS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }

for (const [what, peer, forwardedFor, client, isTrusted] of CASES) {
  test(`a route and the log behind ${what}`, async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY })
    if (peer === undefined) options.config = readLaunchConfig({ TRUST_PROXY, SOCKET: '/run/app.sock' })
    const app = createApp(options, routes)
    app.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }))
    await using server = await serve(app, options)
    const headers = { ...HEADERS, 'x-forwarded-for': forwardedFor }
    const expected = isTrusted
      ? { protocol: 'https', host: 'shop.example' }
      : { protocol: 'http', host: new URL(server.url).host }
    const body = await (await fetch(`${server.url}/who`, { headers })).json()
    deepEqual(body, { client, ...expected })
    const [line] = await readLines(1)
    equal(line?.client, client)
    const old = await fetch(`${server.url}/old`, { headers, redirect: 'manual' })
    equal(old.headers.get('location'), `${expected.protocol}://${expected.host}/teas`)
  })
}
