import { expect, test } from 'bun:test'
import type { Server } from 'bun'
import { createOptions } from '#shared/testing-before/options.ts'
import { createApp } from '../src/app.ts'
import { forwardedOf } from '../src/middleware/forwarded.ts'
import { serve } from './serve.ts'

// The peer is always 127.0.0.1 here. Others are in the tests of `readForwarded`.
const CASES: [what: string, trusted: string, forwardedFor: string, client: string, isTrusted: boolean][] = [
  ['a trusted peer', 'loopback', '203.0.113.7', '203.0.113.7', true],
  ['a trusted peer, for an IPv6 client', 'loopback', '2001:db8::7', '2001:db8::7', true],
  [
    'a trusted peer, and an entry forged by the client',
    'loopback',
    '192.0.2.1, 203.0.113.7',
    '203.0.113.7',
    true,
  ],
  [
    'two proxies, and a forged entry',
    'loopback, 10.0.0.0/8',
    '192.0.2.1, 203.0.113.7, 10.0.0.2',
    '203.0.113.7',
    true,
  ],
  ['a peer that is not trusted', '10.0.0.0/8', '203.0.113.7', '127.0.0.1', false],
  ['a peer without TRUST_PROXY', '', '203.0.113.7', '127.0.0.1', false],
]

for (const [what, trusted, forwardedFor, client, isTrusted] of CASES) {
  test(`a route and the log behind ${what}`, async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY: trusted })
    const routes = {
      '/who': (request: Request, server: Server<undefined>) =>
        Response.json(forwardedOf(request, server, options.config)),
    }
    await using server = await serve(createApp(options, routes))
    const response = await fetch(`${server.url}/who`, {
      headers: {
        'x-forwarded-for': forwardedFor,
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'shop.example',
      },
    })
    const expected = isTrusted
      ? { protocol: 'https', host: 'shop.example' }
      : { protocol: 'http', host: new URL(server.url).host }
    expect(await response.json()).toEqual({ client, ...expected })
    const [line] = await readLines(1)
    expect(line?.client).toBe(client)
  })
}
