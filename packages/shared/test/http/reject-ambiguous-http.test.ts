import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { SERVER_OPTIONS } from '../../src/http/protect.ts'
import { rejectAmbiguousHttp } from '../../src/http/reject-ambiguous-http.ts'
import { readConfig } from '../../src/process/config.ts'
import { listen } from '../../src/process/listen.ts'

const LAST = 'GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'

/** Sends a request and another one behind it. @returns the status lines that came, and what the listener saw */
async function send(context: TestContext, request: string) {
  const seen: string[] = []
  const server = createServer(
    SERVER_OPTIONS,
    rejectAmbiguousHttp(({ url, headers: { host } }, response) => {
      seen.push(`${host} ${url}`)
      response.setHeader('content-length', 0).end()
    }),
  )
  context.after(() => server.close())
  const { port } = new URL(await listen(server, readConfig({ PORT: '0' })))
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request + LAST)
  const response = await text(socket)
  return { statuses: [...response.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status)), seen }
}

const SERVED: [request: string, seen: string][] = [
  ['GET /a HTTP/1.1\r\nhost: a\r\n\r\n', 'a /a'],
  ['GET /a HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n\r\n', 'a /a'],
  ['POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n', 'a /a'],
  ['GET http://b:80/a?b HTTP/1.1\r\nhost: a\r\n\r\n', 'b:80 /a?b'],
  ['GET HTTPS://b/a HTTP/1.1\r\nhost: a\r\n\r\n', 'b /a'],
  ['GET http://b HTTP/1.1\r\nhost: a\r\n\r\n', 'b /'],
  ['GET http://b?c HTTP/1.1\r\nhost: a\r\n\r\n', 'b /?c'],
]

for (const [request, line] of SERVED) {
  test(`serves ${JSON.stringify(request)}`, async (context) => {
    const { statuses, seen } = await send(context, request)
    deepEqual(statuses, [200, 200])
    deepEqual(seen, [line, 'a /last'])
  })
}

const REFUSED = [
  'GET /a HTTP/0.9\r\nhost: a\r\n\r\n',
  'GET /a\nhost: a\r\n\r\n',
  'GET /a HTTP/2.0\r\nhost: a\r\n\r\n',
  'POST /a HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: identity\r\n\r\n',
  'GET * HTTP/1.1\r\nhost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET ftp://b/a HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET http:///a HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET http://b@c/a HTTP/1.1\r\nhost: a\r\n\r\n',
]

for (const request of REFUSED) {
  test(`refuses ${JSON.stringify(request)}, and reads nothing behind it`, async (context) => {
    const { statuses, seen } = await send(context, request)
    equal(statuses[0], 400)
    deepEqual(seen, [])
  })
}
