import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { before, describe, test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { makeCertificate } from '../src/run/certificate.ts'
import type { Instance } from '../src/run/instance.ts'
import { addressOf, app, frontOf, makeDirectory, request, skip, start } from './support.ts'

/** What TLS and HTTP/2 add at the edge. That all else is as without them, contract.test.ts and the conformance suite show. */

const DAY_MS = 86_400_000

describe('tls', { skip }, () => {
  let instance: Instance

  const startFront = (certificate?: Awaited<ReturnType<typeof makeCertificate>>) =>
    start({
      fronts: [frontOf(app.address, { topology: 'nginx-tls', ...(certificate && { certificate }) })],
      trustedProxies: '127.0.0.0/8 1;',
    })

  before(async () => {
    instance = await startFront()
  })

  const address = (): { host: string; port: number; ca?: string } => addressOf(instance)

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

  test('its own certificate: for names of loopback, for a week, with a key that only this user reads', async () => {
    const certificate = new X509Certificate(address().ca ?? '')
    const names = 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1'
    assert.equal(certificate.subjectAltName, names)
    assert.ok(certificate.validToDate.getTime() - Date.now() <= 7 * DAY_MS)
    assert.equal(certificate.ca, false, 'who trusts it would trust whatever its key signs')
    assert.equal(statSync(instance.dir).mode & 0o777, 0o700)
    assert.equal(statSync(join(instance.dir, 'key.pem')).mode & 0o777, 0o600)
  })

  test('plain HTTP on this port: 400 says what to write', async () => {
    const { ca: _, ...plain } = address()
    const { status, body } = await request(plain, '/json')
    const { detail } = JSON.parse(body.toString())
    assert.deepEqual([status, detail], [400, 'This port expects HTTPS: write https:// instead of http://.'])
  })

  test('a given certificate', async () => {
    const given = await makeCertificate(makeDirectory('startgrid-given-'))
    const edge = await startFront(given)
    assert.equal(addressOf(edge).ca, readFileSync(given.certificate, 'utf8'))
    assert.equal((await request(addressOf(edge), '/json')).status, 200)
  })

  test('a trusted proxy in front keeps its word, and its address is added', async () => {
    const seen = async (proto: string, host: string, ...others: string[]) => {
      const headers = [`X-Forwarded-Proto: ${proto}`, `X-Forwarded-Host: ${host}`, ...others]
      await request(address(), '/json', { headers })
      return ['for', 'proto', 'host'].map((name) => app.received()[`x-forwarded-${name}`])
    }
    const told = await seen('http', 'shop.example:81', 'X-Forwarded-For: 203.0.113.7')
    assert.deepEqual(told, ['203.0.113.7, 127.0.0.1', 'http', 'shop.example:81'])
    assert.deepEqual(await seen('x', 'a b'), ['127.0.0.1', 'https', 'example.test:81'])
  })

  test('over HTTP/2 the app is told the host that was asked for', async () => {
    const origin = `https://127.0.0.1:${address().port}`
    const session = connectHttp2(origin, { ca: address().ca ?? '' })
    const stream = session.request({ ':path': '/json?a', 'x-request-id': 'mine' })
    const [{ ':status': status, 'x-request-id': id }] = await once(stream, 'response')
    assert.deepEqual([status, id], [200, 'mine'])
    assert.deepEqual(await json(stream), { method: 'GET', url: '/json?a' })
    session.destroy()
    const { host, 'x-forwarded-host': forwarded } = app.received()
    assert.deepEqual([host, forwarded], Array(2).fill(new URL(origin).host))
  })
})
