import { deepEqual, equal } from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { test } from 'node:test'
import { Router } from 'express'
import request from 'supertest'
import { readLaunchConfig } from '#shared/launch/config.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'

/** As the documentation of Express reads a proxy's headers. */
const routes = Router()
  .get('/who', ({ ip, protocol, secure, host, hostname }, response) => {
    response.json({ ip, protocol, secure, host, hostname })
  })
  .get('/old', (request, response) => response.redirect(`${request.protocol}://${request.host}/teas`))

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
    const server = pretend(createServer(createApp(options, routes)), peer)
    const headers = { ...HEADERS, 'x-forwarded-for': forwardedFor, host: 'app.internal:8080' }
    const { body } = await request(server).get('/who').set(headers)
    const expected = isTrusted
      ? { protocol: 'https', secure: true, host: 'shop.example', hostname: 'shop.example' }
      : { protocol: 'http', secure: false, host: 'app.internal:8080', hostname: 'app.internal' }
    deepEqual(body, { ip: client, ...expected })
    const [line] = await readLines(1)
    equal(line?.client, client)
    const { location } = (await request(server).get('/old').set(headers)).headers
    equal(location, isTrusted ? 'https://shop.example/teas' : 'http://app.internal:8080/teas')
  })
}

/** Gives the connections of a server another peer. */
function pretend(server: Server, peer: string | undefined): Server {
  return server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }))
}
