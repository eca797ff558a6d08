import { deepEqual, equal, match } from 'node:assert/strict'
import type { Server } from 'node:http'
import { test } from 'node:test'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { ipRestriction } from 'hono/ip-restriction'
import { serve } from '#shared/http/testing.ts'
import { readLaunchConfig } from '#shared/launch/config.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createNodeServer } from '../src/node-server.ts'

/** As the documentation of Hono reads URLs and connections. */
const routes = new Hono()
  .get('/who', (c) => c.json({ client: getConnInfo(c).remote.address, url: c.req.url }))
  .get('/old', (c) => c.redirect(new URL('/teas', c.req.url).href))
  .post('/login', csrf(), async (c) => {
    const { name } = await c.req.parseBody()
    setCookie(c, '__Host-session', String(name), {
      path: '/',
      secure: new URL(c.req.url).protocol === 'https:',
    })
    return c.body(null, 204)
  })
  .get(
    '/admin',
    ipRestriction(getConnInfo, { denyList: [], allowList: ['203.0.113.7', '2001:db8::7'] }),
    (c) => c.text('admin'),
  )

/** The peer is the other end of the connection; on a unix socket it has no address. */
const CASES: [
  what: string,
  peer: string | undefined,
  forwardedFor: string,
  client: string,
  isTrusted: boolean,
][] = [
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
  ['a peer on our unix socket', undefined, '192.0.2.1, 203.0.113.7', '203.0.113.7', true],
  ['a peer that is not trusted', '198.51.100.1', '203.0.113.7', '198.51.100.1', false],
  ['an IPv6 peer that is not trusted', '2001:db8::1', '203.0.113.7', '2001:db8::1', false],
]

const TRUST_PROXY = '10.0.0.0/8, fd00::/8'
const HEADERS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }

for (const [what, peer, forwardedFor, client, isTrusted] of CASES) {
  test(`a route and the log behind ${what}`, async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY })
    if (peer === undefined) options.config = readLaunchConfig({ TRUST_PROXY, SOCKET: '/run/app.sock' })
    await using server = await serve(pretend(createNodeServer(options, routes), peer))
    const headers = { ...HEADERS, 'x-forwarded-for': forwardedFor }
    const ask = (path: string, init?: RequestInit) =>
      fetch(`${server.url}${path}`, { headers, redirect: 'manual', ...init })
    const origin = isTrusted ? 'https://shop.example' : server.url
    deepEqual(await (await ask('/who?a=b')).json(), { client, url: `${origin}/who?a=b` })
    const [line] = await readLines(1)
    deepEqual([line?.client, line?.path], [client, '/who'])
    equal((await ask('/old')).headers.get('location'), `${origin}/teas`)
    equal((await ask('/admin')).status, isTrusted ? 200 : 403)

    // A form of the shop's own page, from a browser that does not send Sec-Fetch-Site.
    const login = await ask('/login', {
      method: 'POST',
      headers: { ...headers, origin: 'https://shop.example' },
      body: new URLSearchParams({ name: 'a' }),
    })
    equal(login.status, isTrusted ? 204 : 403)
    if (isTrusted) match(login.headers.getSetCookie().join(), /^__Host-session=a; Path=\/; Secure$/)
  })
}

/** Gives the connections of a server another peer. */
function pretend(server: Server, peer: string | undefined): Server {
  return server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }))
}
