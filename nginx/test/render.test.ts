import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAddress, formatUpstream, parseAddress, parseUpstream } from '../src/render/address.ts'
import { type Front, renderNginx } from '../src/render/render.ts'
import { explainRejection } from '../src/run/master.ts'

/** What the NGINX of the other tests cannot show, because it is too old or must not fail. */

const FRONT: Front = {
  name: 'fastify-hello',
  topology: 'nginx',
  listen: { host: '127.0.0.1', port: 8080 },
  upstream: { host: '::1', port: 3000 },
}
const MAIN = { dir: '/tmp/place', workers: 2 }
const render = (...fronts: Front[]) => renderNginx({ ...MAIN, fronts })

test('a name is looked up again while NGINX runs, and no server is ever skipped', () => {
  assert.match(render({ ...FRONT, discovered: true }), /server \[::1\]:3000 resolve max_fails=0;/)
})

test('HTTP/2 as this NGINX takes it', () => {
  const certificate = { certificate: '/tls/certificate.pem', key: '/tls/key.pem' }
  const front = { ...FRONT, topology: 'nginx-tls', certificate } as const
  assert.match(render(front), /listen 127\.0\.0\.1:8080 ssl;\n\s+http2 on;\n/)
  const old = renderNginx({ ...MAIN, fronts: [front], http2: 'parameter' })
  assert.match(old, /listen 127\.0\.0\.1:8080 ssl http2;\n\s+ssl_certificate /)
})

test('fronts that cannot work', () => {
  assert.throws(() => render({ ...FRONT, name: 'a b' }), /Front "a b" cannot work: its name must be/)
  assert.throws(() => render(FRONT, FRONT), /its name must be its own/)
  assert.throws(() => render({ ...FRONT, serveAssets: '/a"; b' }), /its paths must be absolute/)
  assert.throws(() => render({ ...FRONT, serveAssets: 'dist' }), /its paths must be absolute/)
})

test('addresses are read and written', () => {
  for (const text of ['127.0.0.1:8080', '[::1]:0', 'app.internal:65535'])
    assert.equal(formatAddress(parseAddress(text)), text)
  assert.deepEqual(parseAddress(':3000'), { host: '127.0.0.1', port: 3000 })
  assert.equal(formatUpstream(parseUpstream('/run/a.sock')), 'unix:/run/a.sock')
  assert.deepEqual(parseUpstream('unix:/run/a.sock'), { socketPath: '/run/a.sock' })
  for (const text of ['8080', 'host:', 'host:65536', 'a b:1', '[::1', ''])
    assert.throws(() => parseAddress(text), /is not an address; write HOST:PORT/, text)
  assert.match(render({ ...FRONT, listen: { host: '::', port: 80 } }), /listen \[::\]:80 ipv6only=off;/)
})

test('what NGINX says, as a sentence', () => {
  const line = 'nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)'
  assert.equal(
    explainRejection(`${line}\n${line}\nnginx: [emerg] still could not bind()\n`),
    'Something else listens on 0.0.0.0:80: stop it, or choose another port.',
  )
  const denied = '2026/11/21 04:00:00 [emerg] 7#7: bind() to 0.0.0.0:80 failed (13: Permission denied)'
  assert.equal(explainRejection(denied), 'Listening on 0.0.0.0:80 is not allowed: choose a port from 1024.')
  assert.equal(explainRejection(''), 'NGINX refuses its configuration: it gave no reason.')
})
