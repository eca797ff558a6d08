import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Address, claimPort } from '../src/render/address.ts'
import type { Front } from '../src/render/front.ts'
import { type MainOptions, renderNginx } from '../src/render/render.ts'
import { makeCertificate } from '../src/run/certificate.ts'
import { type Instance, startNginx } from '../src/run/instance.ts'
import { nginx, skip } from './support/nginx.ts'
import { exchange, request } from './support/raw.ts'
import { type App, startApp } from './support/upstream.ts'

/** What TLS and HTTP/2 add at the edge. That all else is as without them, contract.test.ts and the conformance suite show. */

const ANY: Address = { host: '127.0.0.1', port: 0 }
const DAY_MS = 86_400_000

describe('tls', { skip }, () => {
  let directory: string
  let app: App
  let instance: Instance

  function start(front: Partial<Front> = {}, trustedProxies = ''): Promise<Instance> {
    if (nginx === undefined) throw new Error('skipped')
    const fronts = [
      { name: 'app', topology: 'nginx-tls', listen: ANY, upstream: app.address, ...front } as const,
    ]
    return startNginx(nginx, { fronts, trustedProxies })
  }

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'startgrid-tls-'))
    app = await startApp()
    instance = await start()
  })
  after(async () => {
    await instance?.stop()
    await app?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const address = () => instance.addresses[0] ?? ANY

  /** Headers of the last request, as the app got them. */
  function received(...names: string[]): (string | undefined)[] {
    const raw = app.seen.at(-1)?.headers ?? []
    return names.map(
      (name) => raw[raw.findIndex((one, at) => at % 2 === 0 && one.toLowerCase() === name) + 1],
    )
  }

  /** A connection after its handshake. */
  async function handshake(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({ ...address(), ...options })
    await once(socket, 'secureConnect')
    return socket
  }

  test('TLS 1.3 and 1.2, with HTTP/2 or 1.1 as the client asks, and nothing older', async () => {
    for (const [version, protocols, chosen] of [
      ['TLSv1.3', ['h2', 'http/1.1'], 'h2'],
      ['TLSv1.2', ['h2', 'http/1.1'], 'h2'],
      ['TLSv1.3', ['http/1.1'], 'http/1.1'],
    ] as const) {
      const socket = await handshake({ maxVersion: version, ALPNProtocols: [...protocols] })
      assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], [version, chosen])
      socket.destroy()
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await assert.rejects(handshake(old), /alert protocol version/)
  })

  test('a session is resumed', async () => {
    for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
      const first = connect({ ...address(), maxVersion: version })
      const [session] = (await once(first, 'session')) as [Buffer]
      first.destroy()
      const second = await handshake({ maxVersion: version, session })
      assert.equal(second.isSessionReused(), true, version)
      second.destroy()
    }
  })

  test('its own certificate: for names of loopback, for a week, with a key that only this user reads', async () => {
    const certificate = new X509Certificate(address().ca ?? '')
    assert.equal(
      certificate.subjectAltName,
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    )
    assert.ok(certificate.validToDate.getTime() - Date.now() <= 7 * DAY_MS)
    assert.equal(certificate.ca, false, 'who trusts it would trust whatever its key signs')
    assert.equal(statSync(instance.dir).mode & 0o777, 0o700)
    assert.equal(statSync(join(instance.dir, 'key.pem')).mode & 0o777, 0o600)
  })

  test('plain HTTP on this port: 400 says what to write', async () => {
    const { ca: _, ...plain } = address()
    const response = await request(plain, '/json')
    assert.equal(response.status, 400)
    const problem = JSON.parse(response.body.toString())
    assert.equal(problem.detail, 'This port expects HTTPS: write https:// instead of http://.')
  })

  test('a given certificate; with the key of another it is one sentence', async () => {
    const [given, other] = await Promise.all(
      ['given', 'other'].map((name) => makeCertificate(mkdtempSync(join(directory, name)))),
    )
    assert.ok(given && other)
    const edge = await start({ certificate: given })
    const [{ ca } = ANY] = edge.addresses
    assert.equal(ca, readFileSync(given.certificate, 'utf8'))
    assert.equal((await request(edge.addresses[0] ?? ANY, '/json')).status, 200)
    await edge.stop()
    const message = /^NGINX refuses its configuration: .*key values mismatch.*\.$/
    await assert.rejects(start({ certificate: { ...given, key: other.key } }), { message })
  })

  test('an NGINX without TLS says so', async () => {
    const front = { name: 'app', topology: 'nginx-tls', listen: ANY, upstream: app.address } as const
    if (nginx === undefined) return
    const message = 'This NGINX was built without TLS or HTTP/2: choose another NGINX, or topology nginx.'
    await assert.rejects(startNginx({ ...nginx, http2: undefined }, { fronts: [front] }), { message })
  })

  test('a trusted proxy in front keeps its word, and its address is added', async () => {
    const behind = await start({}, '127.0.0.0/8 1;')
    const seen = async (...headers: string[]) => {
      await request(behind.addresses[0] ?? ANY, '/json', { headers })
      return received('x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host')
    }
    try {
      assert.deepEqual(
        await seen(
          'X-Forwarded-For: 203.0.113.7',
          'X-Forwarded-Proto: http',
          'X-Forwarded-Host: shop.example:81',
        ),
        ['203.0.113.7, 127.0.0.1', 'http', 'shop.example:81'],
      )
      assert.deepEqual(await seen('X-Forwarded-Proto: x', 'X-Forwarded-Host: a b'), [
        ...['127.0.0.1', 'https', 'example.test:81'],
      ])
    } finally {
      await behind.stop()
    }
  })

  test('a location with a header of its own loses no other, if it is written as the documentation shows', async () => {
    const documentation = readFileSync(new URL('../../docs/behind-a-proxy.md', import.meta.url), 'utf8')
    const [, location = ''] = /```nginx\n(location \/reports\/ \{[^`]*)```/.exec(documentation) ?? []
    const listen = { host: '127.0.0.1', port: await claimPort(ANY) }
    const fronts = [{ name: 'app', topology: 'nginx', listen, upstream: app.address } as const]
    const config = (main: MainOptions) =>
      renderNginx({ ...main, fronts }).replace(/^ *# For error_page/m, `${location}$&`)
    if (nginx === undefined) return
    const other = await startNginx(nginx, { listen: [listen], config })
    try {
      await request(listen, '/reports/1', { headers: ['X-Request-Id: mine'] })
      assert.deepEqual(
        received(
          'x-report',
          'host',
          'x-request-id',
          'x-forwarded-for',
          'x-forwarded-proto',
          'x-forwarded-host',
        ),
        ['yes', 'example.test:81', 'mine', '127.0.0.1', 'http', 'example.test:81'],
      )
    } finally {
      await other.stop()
    }
  })

  test('a WebSocket passes on any path, h2c does not', async () => {
    const asked: string[] = []
    const upstream = createServer((socket) =>
      socket.once('data', (bytes) => {
        asked.push(/^upgrade: .*$/im.exec(bytes.toString())?.[0] ?? 'none')
        socket.end(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhello',
        )
      }),
    )
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const bound = upstream.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const edge = await start({ upstream: { host: '127.0.0.1', port } })
    try {
      for (const protocol of ['websocket', 'h2c']) {
        const text = `GET /any HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
        const bytes = await exchange(edge.addresses[0] ?? ANY, text)
        if (protocol === 'websocket') assert.match(bytes, /^HTTP\/1\.1 101 .*hello$/s)
      }
      assert.deepEqual(asked, ['Upgrade: websocket', 'none'])
    } finally {
      await edge.stop()
      upstream.close()
    }
  })

  /** One request over HTTP/2: its status, or the code of the error. */
  async function ask(headers: OutgoingHttpHeaders, port = address().port): Promise<number | string> {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: address().ca ?? '' })
    session.on('error', () => undefined)
    try {
      const stream = session.request({ ':path': '/json', ...headers })
      const [{ ':status': status }] = await once(stream.resume(), 'response')
      return status
    } catch (error) {
      return (error as NodeJS.ErrnoException).message
    } finally {
      session.destroy()
    }
  }

  test('limits over HTTP/2: a header section over 16 KiB is 431, a body over 64 KiB is 413', async () => {
    assert.equal(await ask({ 'x-big': 'h'.repeat(15_000) }), 200)
    assert.equal(await ask({ 'x-big': 'h'.repeat(20 * 1024) }), 431)
    assert.equal(await ask({ ':method': 'POST', 'content-length': '65537' }), 413)
  })

  test('over HTTP/2, a drain ends the streams that it has, and takes no more', async () => {
    const other = await start()
    const [{ port, ca = '' } = ANY] = other.addresses
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca })
    const goaway = once(session, 'goaway')
    const stream = session.request({ ':path': '/stream' })
    let body = ''
    stream.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    await once(stream, 'data')
    const stopped = other.stop()
    await goaway
    app.release()
    await once(stream, 'end')
    assert.equal(body, '<first><second>')
    await stopped
  })
})
