import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { findNginx } from '../src/find/find.ts'
import { startNginx } from '../src/run/instance.ts'

const nginx = await findNginx({ download: false })
const APP = fileURLToPath(new URL('../../apps/node/', import.meta.url))
const LISTEN = { host: '127.0.0.1', port: 0 }

test('an app keeps the contract over HTTP/2', {
  skip: nginx.kind === 'none' && nginx.describe(),
}, async (context) => {
  if (nginx.kind === 'none') return
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
  const [page, streamed, kept, head, post, unknown, invalid, live] = await Promise.all([
    ask('/?items=2'),
    ask('/stream?items=2&delay=100'),
    ask('/?items=2', { 'x-request-id': 'mine' }),
    ask('/?items=2', { ':method': 'HEAD' }),
    ask('/', { ':method': 'POST' }),
    ask('/no-such-path'),
    ask('/?items=x'),
    ask('/livez'),
  ])
  assert.deepEqual([page.status, page.type], [200, 'text/html; charset=utf-8'])
  assert.match(page.body, /^<!DOCTYPE html>.*<\/body><\/html>$/s)
  assert.equal(streamed.status, 200)
  assert.match(streamed.body, /^<!DOCTYPE html>.*<\/body><\/html>$/s)
  assert.equal(kept.headers['x-request-id'], 'mine')
  assert.deepEqual([head.status, head.body], [200, ''])
  for (const { status, type, body } of [post, unknown, invalid]) {
    assert.equal(type, 'application/problem+json')
    assert.equal(JSON.parse(body).status, status)
  }
  assert.deepEqual([post.status, unknown.status, invalid.status], [404, 404, 400])
  assert.deepEqual([live.status, live.body], [200, '{"status":"pass"}'])
  const [file = ''] = /\/assets\/[^"]+\.js/.exec(page.body) ?? []
  const coded = await ask(file, { 'accept-encoding': 'br' })
  assert.deepEqual([coded.status, coded.headers['content-encoding']], [200, 'br'])
})
