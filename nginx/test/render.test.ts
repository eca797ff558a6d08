import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SECURITY_HEADERS } from '../../packages/shared/src/security.ts'
import { formatAddress, formatUpstream, parseAddress, parseUpstream } from '../src/render/address.ts'
import type { Front } from '../src/render/front.ts'
import { CONF, renderNginx } from '../src/render/render.ts'
import { explainRejection } from '../src/run/master.ts'

const FRONT: Front = {
  name: 'fastify-hello',
  topology: 'nginx',
  listen: { host: '127.0.0.1', port: 8080 },
  upstream: { host: '::1', port: 3000 },
}

function render(...fronts: Front[]): string {
  return renderNginx({ dir: '/tmp/place', workers: 2, fronts })
}

function conf(file: string): string {
  return readFileSync(join(CONF, file), 'utf8')
}

describe('rendering', () => {
  test('a name is looked up again while NGINX runs, and no server is ever skipped', () => {
    assert.match(render({ ...FRONT, discovered: true }), /server \[::1\]:3000 resolve max_fails=0;/)
  })

  test('HTTP/2 as this NGINX takes it', () => {
    const certificate = { certificate: '/tls/certificate.pem', key: '/tls/key.pem' }
    const fronts = [{ ...FRONT, topology: 'nginx-tls', certificate } as const]
    const main = { dir: '/tmp/place', workers: 2 }
    assert.match(renderNginx({ ...main, fronts }), /listen 127\.0\.0\.1:8080 ssl;\n\s+http2 on;\n/)
    const old = renderNginx({ ...main, fronts, http2: 'parameter' })
    assert.match(old, /listen 127\.0\.0\.1:8080 ssl http2;\n\s+ssl_certificate /)
  })

  test('nothing is left to fill in, and every include exists', () => {
    const text = render({ ...FRONT, serveAssets: '/srv' })
    assert.doesNotMatch(text, /\$\{/)
    for (const [, path = ''] of text.matchAll(/include startgrid\/([^*;]+);/g)) {
      assert.ok(statSync(join(CONF, path)).isFile(), path)
    }
  })

  test('fronts that cannot work', () => {
    assert.throws(() => render({ ...FRONT, name: 'a b' }), /Front "a b" cannot work: its name must be/)
    assert.throws(() => render(FRONT, FRONT), /its name must be its own/)
    assert.throws(() => render({ ...FRONT, serveAssets: '/a"; b' }), /its paths must be absolute/)
    assert.throws(() => render({ ...FRONT, serveAssets: 'dist' }), /its paths must be absolute/)
  })
})

describe('the files hold the values of packages/shared', () => {
  test('security headers', () => {
    const headers = conf('server/headers.conf')
    const written = [...headers.matchAll(/^add_header (\S+)\s+(?:"([^"]*)"|(\S+))\s+always;/gm)]
    const security = written.map(([, name, quoted, plain]) => [name, quoted ?? plain])
    assert.deepEqual(
      security.filter(([, value]) => !value?.startsWith('$')),
      Object.entries(SECURITY_HEADERS),
    )
  })

  test('limits and caching', () => {
    assert.match(conf('server/limits.conf'), /client_max_body_size 64k;/)
    const limit = 16 * 1024 // Node's default of --max-http-header-size
    const over = new RegExp(/"~(\^\(\?:1638.*\$)"/.exec(conf('http/limits.conf'))?.[1] ?? 'none')
    for (let length = 1; length < 200_000; length += length < 20_000 ? 1 : 97)
      assert.equal(over.test(String(length)), length > limit, String(length))
    assert.ok(conf('http/assets.conf').includes("'public, max-age=31536000, immutable'"))
  })

  test('methods', () => {
    const known = [...conf('http/limits.conf').matchAll(/^ {4}(?:([A-Z]+)|"~\^\(\?:(.*)\)\$") +0;$/gm)]
    const methods = known.flatMap(([, one, several = one]) => several?.split('|') ?? [])
    assert.deepEqual(
      methods.sort(),
      METHODS.filter((method) => method !== 'CONNECT'),
    )
  })
})

test('addresses are read and written', () => {
  for (const text of ['127.0.0.1:8080', '[::1]:0', 'app.internal:65535'])
    assert.equal(formatAddress(parseAddress(text)), text)
  assert.deepEqual(parseAddress(':3000'), { host: '127.0.0.1', port: 3000 })
  assert.equal(formatUpstream(parseUpstream('/run/a.sock')), 'unix:/run/a.sock')
  assert.deepEqual(parseUpstream('unix:/run/a.sock'), { socketPath: '/run/a.sock' })
  for (const text of ['8080', 'host:', 'host:65536', 'a b:1', '[::1', ''])
    assert.throws(() => parseAddress(text), /is not an address; write HOST:PORT/, text)
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
