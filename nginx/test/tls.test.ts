import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { makeCertificate } from '../src/run/certificate.ts'
import { type Instance, startNginx } from '../src/run/instance.ts'
import { type App, startApp } from './support/app.ts'
import { assertOwn, request } from './support/client.ts'
import { ANY, frontOf, nginx, skip, start } from './support/nginx.ts'

/** What TLS and HTTP/2 add at the edge. That all else is as without them, contract.test.ts and the conformance suite show. */

const DAY_MS = 86_400_000

describe('tls', { skip }, () => {
  let directory: string
  let app: App
  let instance: Instance

  const startFront = (certificate?: Awaited<ReturnType<typeof makeCertificate>>) =>
    start({
      fronts: [frontOf(app.address, { topology: 'nginx-tls', ...(certificate && { certificate }) })],
      trustedProxies: '127.0.0.0/8 1;',
    })

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'startgrid-tls-'))
    app = await startApp()
    instance = await startFront()
  })
  after(async () => {
    await instance?.stop()
    await app.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const addressOf = ({ addresses: [address = ANY] }: Instance): typeof address => address
  const address = () => addressOf(instance)

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
    const edge = await startFront(given)
    assert.equal(addressOf(edge).ca, readFileSync(given.certificate, 'utf8'))
    assert.equal((await request(addressOf(edge), '/json')).status, 200)
    await edge.stop()
    const message = /^NGINX refuses its configuration: .*key values mismatch.*\.$/
    await assert.rejects(startFront({ ...given, key: other.key }), { message })
  })

  test('an NGINX without TLS says so', async () => {
    if (nginx === undefined) return
    const fronts = [frontOf(app.address, { topology: 'nginx-tls' })]
    const message = 'This NGINX was built without TLS or HTTP/2: choose another NGINX, or topology nginx.'
    await assert.rejects(startNginx({ ...nginx, http2: undefined }, { fronts }), { message })
  })

  test('a trusted proxy in front keeps its word, and its address is added', async () => {
    const seen = async (...headers: string[]) => {
      await request(address(), '/json', { headers })
      return received('x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host')
    }
    const told = [
      'X-Forwarded-For: 203.0.113.7',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: shop.example:81',
    ]
    assert.deepEqual(await seen(...told), ['203.0.113.7, 127.0.0.1', 'http', 'shop.example:81'])
    const nonsense = ['X-Forwarded-Proto: x', 'X-Forwarded-Host: a b']
    assert.deepEqual(await seen(...nonsense), ['127.0.0.1', 'https', 'example.test:81'])
  })

  function openHttp2({ port, ca = '' } = address()): ClientHttp2Session {
    return connectHttp2(`https://127.0.0.1:${port}`, { ca }).on('error', () => undefined)
  }

  /** One request over HTTP/2. */
  async function ask(session: ClientHttp2Session, path: string, more: OutgoingHttpHeaders = {}) {
    const stream = session.request({ ':path': path, ...more }, { endStream: true })
    const [{ ':status': status, ...headers }] = (await once(stream, 'response')) as [Record<string, string>]
    const body = Buffer.concat(await stream.toArray())
    return { status: Number(status), headers: Object.fromEntries(Object.entries(headers)), body }
  }

  test('over HTTP/2, streams of one connection at once, and no header of a connection', async () => {
    const session = openHttp2()
    const [json, head, own] = await Promise.all([
      ask(session, '/json?a', { 'x-request-id': 'mine' }),
      ask(session, '/json?a', { ':method': 'HEAD' }),
      ask(session, '/ceiling'),
    ])
    session.destroy()
    assert.deepEqual([json.status, json.headers['x-request-id']], [200, 'mine'])
    assert.deepEqual(JSON.parse(json.body.toString()), { method: 'GET', url: '/json?a' })
    assert.deepEqual(received('host', 'x-forwarded-host'), Array(2).fill(`127.0.0.1:${address().port}`))
    assert.deepEqual([head.status, head.body.length], [200, 0])
    assert.deepEqual([own.status, own.body.toString()], [200, 'Hello World!'])
    assertOwn(
      { ...own, headers: { ...own.headers, connection: '' } },
      { 'content-type': 'text/plain; charset=utf-8', 'content-length': '12' },
    )
    for (const { headers } of [json, head, own])
      for (const name of ['connection', 'keep-alive', 'transfer-encoding'])
        assert.equal(headers[name], undefined)
  })

  test('limits over HTTP/2: a header section over 16 KiB is 431, a body over 64 KiB is 413', async () => {
    const statusOf = async (headers: OutgoingHttpHeaders) => {
      const session = openHttp2()
      const { status } = await ask(session, '/json', headers)
      session.destroy()
      return status
    }
    assert.equal(await statusOf({ 'x-big': 'h'.repeat(15_000) }), 200)
    assert.equal(await statusOf({ 'x-big': 'h'.repeat(20 * 1024) }), 431)
    assert.equal(await statusOf({ ':method': 'POST', 'content-length': '65537' }), 413)
  })

  test('over HTTP/2, a drain ends the streams that it has, and takes no more', async () => {
    const other = await startFront()
    const session = openHttp2(addressOf(other))
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
