import { deepEqual, equal } from 'node:assert/strict'
import type { Server } from 'node:http'
import { test } from 'node:test'
import type { AppOptions } from '../app-options.ts'
import { createOptions } from './options.ts'
import { serve } from './serve.ts'

interface Case {
  what: string
  /** The other end of the connection. */
  peer: string
  forwardedFor: string
  client: string
  isTrusted: boolean
}

const CASES: readonly Case[] = [
  {
    what: 'a trusted peer',
    peer: '10.0.0.1',
    forwardedFor: '203.0.113.7',
    client: '203.0.113.7',
    isTrusted: true,
  },
  {
    what: 'a trusted peer on a dual-stack socket',
    peer: '::ffff:10.0.0.1',
    forwardedFor: '203.0.113.7',
    client: '203.0.113.7',
    isTrusted: true,
  },
  {
    what: 'a trusted IPv6 peer',
    peer: 'fd00::1',
    forwardedFor: '2001:db8::7',
    client: '2001:db8::7',
    isTrusted: true,
  },
  {
    what: 'two proxies, and a forged entry',
    peer: '10.0.0.1',
    forwardedFor: '192.0.2.1, 203.0.113.7, 10.0.0.2',
    client: '203.0.113.7',
    isTrusted: true,
  },
  {
    what: 'a peer that is not trusted',
    peer: '198.51.100.1',
    forwardedFor: '203.0.113.7',
    client: '198.51.100.1',
    isTrusted: false,
  },
]

const TRUST_PROXY = '10.0.0.0/8, fd00::/8'
const HEADERS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }

/**
 * What the framework tells a route about the client behind a proxy, and the log. The routes are those of `fixtures/failing.ts`. For apps
 * on Node, whose connections can pretend to have another peer.
 */
export function testForwarded(create: (options: AppOptions) => Server | Promise<Server>): void {
  for (const { what, peer, forwardedFor, client, isTrusted } of CASES) {
    test(`a route and the log behind ${what}`, async () => {
      const { readLines, ...options } = createOptions({ TRUST_PROXY })
      const server = pretend(await create(options), peer)
      await using app = await serve(server)
      const headers = { ...HEADERS, 'x-forwarded-for': forwardedFor }
      const ask = (path: string) => fetch(app.url + path, { headers, redirect: 'manual' })
      const { protocol, host } = new URL(isTrusted ? 'https://shop.example' : app.url)
      const told = await (await ask('/client')).json()
      deepEqual(told, { client, scheme: protocol.slice(0, -1), host })
      const [line] = await readLines(1)
      equal(line?.client, client)
      equal((await ask('/moved')).headers.get('location'), `${protocol}//${host}/me`)
    })
  }
}

/** Gives the connections of a server another peer. */
function pretend(server: Server, peer: string): Server {
  return server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }))
}
