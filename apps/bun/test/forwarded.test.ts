import { expect, test } from 'bun:test'
import { createOptions } from '#shared/testing/options.ts'
import { failing } from '../fixtures/failing.ts'
import { serve } from './serve.ts'

// The peer is always 127.0.0.1 here. `testForwarded` has others, for the apps on Node.
for (const [what, TRUST_PROXY, client, isTrusted] of [
  ['a trusted proxy', 'loopback', '203.0.113.7', true],
  ['a peer that is not trusted', '10.0.0.0/8', '127.0.0.1', false],
  ['a peer without TRUST_PROXY', '', '127.0.0.1', false],
] as const) {
  test(`a route and the log behind ${what}`, async () => {
    const { readLines, ...options } = createOptions({ TRUST_PROXY })
    await using app = await serve(options, failing)
    const headers = {
      'x-forwarded-for': '192.0.2.1, 203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop.example',
    }
    const { protocol, host } = new URL(isTrusted ? 'https://shop.example' : app.url)
    const told = await (await fetch(`${app.url}/client`, { headers })).json()
    expect(told).toEqual({ client, scheme: protocol.slice(0, -1), host })
    const [line] = await readLines(1)
    expect(line?.client).toBe(client)
    const moved = await fetch(`${app.url}/moved`, { headers, redirect: 'manual' })
    expect(moved.headers.get('location')).toBe(`${protocol}//${host}/me`)
  })
}
