import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { findNginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import { BODY_LIMIT } from '#shared/http/contract.ts'
import type { Handler } from '../src/responder/connection.ts'
import { createResponder } from '../src/responder/responder.ts'
import { startApp } from './support/process.ts'

const found = await findNginx()
const nginx = found.kind === 'none' ? undefined : found
const LISTEN = { host: '127.0.0.1', port: 0 }

type Upstream = { host: string; port: number } | { socketPath: string }

/** An NGINX in front of a responder, stopped at the end of the block. */
async function startFront(upstream: Upstream) {
  ok(nginx)
  const front = { name: 'responder', topology: 'fastcgi', listen: LISTEN, upstream } as const
  const instance = await startNginx(nginx, { fronts: [front] })
  const [address = LISTEN] = instance.addresses
  return { address, [Symbol.asyncDispose]: () => instance.stop() }
}

/** A responder in this process. */
async function serve(handler: Handler) {
  const { server, drain } = createResponder(handler)
  const connections = { count: 0 }
  server.on('connection', () => connections.count++)
  server.listen(LISTEN)
  await once(server, 'listening')
  const { address: host, port } = server.address() as AddressInfo
  return { address: { host, port }, connections, [Symbol.asyncDispose]: drain }
}

async function send(
  address: { host: string; port: number },
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
    agent,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer; agent?: Agent } = {},
) {
  const sent = request({ ...address, path, method, headers, ...(agent && { agent }) })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

describe('behind NGINX', { skip: nginx === undefined && found.kind === 'none' && found.describe() }, () => {
  // Two neighbours have both roles.
  const apps = [
    ['hello', 'a port'],
    ['status', 'a unix socket'],
    ['hello', 'a unix socket'],
    ['status', 'a port'],
  ] as const
  for (const [role, place] of sample('responders behind NGINX', apps, 2)) {
    test(`${role} on ${place} keeps the contract`, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
      try {
        const env = place === 'a port' ? {} : { SOCKET: join(directory, 'app.sock') }
        await using app = await startApp([role], env)
        await using front = await startFront(app.address)
        const report = await checkConformance({ target: front.address, role, proxied: true })
        deepEqual(report.differences, [], formatReport(report))
        deepEqual(report.skipped, [])
        ok(report.passed.length > 50)
      } finally {
        rmSync(directory, { recursive: true })
      }
    })
  }

  test('requests share the connections that NGINX keeps', async () => {
    await using responder = await serve(({ url }, respond) => respond(200, {}, url))
    await using front = await startFront(responder.address)
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    await Promise.all(
      agents.map(async (agent, index) => {
        for (let turn = 0; turn < 50; turn++) {
          equal(String((await send(front.address, `/${index}/${turn}`, { agent })).body), `/${index}/${turn}`)
        }
        agent.destroy()
      }),
    )
    ok(responder.connections.count <= 8, `${responder.connections.count} connections for 400 requests`)
  })

  test('the largest body comes, announced or chunked, and a response of several records goes', async () => {
    await using responder = await serve(({ body, refusal, params }, respond) =>
      respond(
        refusal ?? 200,
        { 'x-announced': params.get('CONTENT_LENGTH') ?? '' },
        Buffer.concat(Array<Buffer>(5).fill(body)),
      ),
    )
    await using front = await startFront(responder.address)
    const largest = Buffer.alloc(BODY_LIMIT, 'abcdefg')
    for (const headers of [{ 'content-length': String(BODY_LIMIT) }, { 'transfer-encoding': 'chunked' }]) {
      const response = await send(front.address, '/', { method: 'POST', headers, body: largest })
      deepEqual([response.status, response.headers['x-announced']], [200, String(BODY_LIMIT)])
      ok(response.body.equals(Buffer.concat(Array<Buffer>(5).fill(largest))))
    }
  })

  test('the responder is told what the client sent, and who it is', async () => {
    await using responder = await serve(({ method, url, params }, respond) =>
      respond(200, {}, JSON.stringify({ method, url, params: Object.fromEntries(params) })),
    )
    await using front = await startFront(responder.address)
    const headers = {
      host: 'a.example:81',
      'x-forwarded-for': '203.0.113.7',
      'x-request-id': 'not valid',
      'x-long': 'x'.repeat(300),
    }
    const { body } = await send(front.address, '/%2e%2F//a?b=%zz', { method: 'DELETE', headers })
    const { method, url, params } = JSON.parse(String(body))
    deepEqual([method, url], ['DELETE', '/%2e%2F//a?b=%zz'])
    equal(params.REMOTE_ADDR, '127.0.0.1')
    equal(params.HTTP_HOST, 'a.example:81')
    equal(params.HTTP_X_FORWARDED_FOR, '203.0.113.7')
    equal(params.HTTP_X_LONG, 'x'.repeat(300))
    // Replaced by NGINX, so that both logs have the same.
    ok(/^[0-9a-f]{32}$/.test(params.HTTP_X_REQUEST_ID))
  })

  test('without a responder NGINX responds with 502', async () => {
    const closed = await serve(() => {})
    await closed[Symbol.asyncDispose]()
    await using front = await startFront(closed.address)
    const { status, headers } = await send(front.address, '/')
    deepEqual([status, headers['content-type']], [502, 'application/problem+json'])
  })
})
