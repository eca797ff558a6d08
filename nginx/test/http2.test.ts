import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { startNginx } from '../src/run/instance.ts'
import { nginx, skip } from './support/nginx.ts'

const APP = fileURLToPath(new URL('../../apps/node/', import.meta.url))
const LISTEN = { host: '127.0.0.1', port: 0 }

test('an app keeps the contract over HTTP/2', { skip }, async (context) => {
  if (nginx === undefined) return
  const app = startNode(['src/server.ts', 'ssr'], { cwd: APP, env: { ...process.env, PORT: '0' } })
  context.after(() => app.child.kill())
  const [ready] = (await once(app.child.stdout, 'data')) as [string]
  const upstream = { host: '127.0.0.1', port: Number(new URL(JSON.parse(ready).address).port) }
  const fronts = [{ name: 'app', topology: 'nginx-tls', listen: LISTEN, upstream } as const]
  const instance = await startNginx(nginx, { fronts })
  context.after(() => instance.stop())
  const [{ port, ca = '' } = { ...LISTEN, ca: '' }] = instance.addresses
  const session = connect(`https://127.0.0.1:${port}`, { ca: ca ?? '' })
  context.after(() => session.destroy())

  async function ask(path: string, options: OutgoingHttpHeaders = {}) {
    const stream = session.request({ ':path': path, ...options }, { endStream: true })
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    const body = Buffer.concat(await stream.toArray()).toString()
    for (const name of ['content-security-policy', 'x-content-type-options', 'x-request-id'])
      assert.ok(headers[name], `${path} without ${name}`)
    for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'x-powered-by'])
      assert.equal(headers[name], undefined, `${path} with ${name}`)
    return { status: headers[':status'], type: headers['content-type'], headers, body }
  }

  // All at once, as streams of one connection.
  const [page, streamed, head, unknown] = await Promise.all([
    ask('/?items=2', { 'x-request-id': 'mine' }),
    ask('/stream?items=2&delay=100'),
    ask('/?items=2', { ':method': 'HEAD' }),
    ask('/no-such-path'),
  ])
  for (const { status, type, body } of [page, streamed]) {
    assert.deepEqual([status, type], [200, 'text/html; charset=utf-8'])
    assert.match(body, /^<!DOCTYPE html>.*<\/body><\/html>$/s)
  }
  assert.equal(page.headers['x-request-id'], 'mine')
  assert.deepEqual([head.status, head.body], [200, ''])
  assert.deepEqual([unknown.status, unknown.type], [404, 'application/problem+json'])
  const [file = ''] = /\/assets\/[^"]+\.js/.exec(page.body) ?? []
  const coded = await ask(file, { 'accept-encoding': 'br' })
  assert.deepEqual([coded.status, coded.headers['content-encoding']], [200, 'br'])
})
