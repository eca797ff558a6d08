import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { addDefaultHeaders } from '../../src/http/default-headers.ts'
import { SECURITY_HEADERS } from '../../src/http/security-headers.ts'
import { readConfig } from '../../src/process/config.ts'
import { listen } from '../../src/process/listen.ts'

const LIMIT = { timeout: 120_000 }
const POLICY = 'content-security-policy'

/** @returns the status line, and all headers as they were sent, with their names in lower case */
async function respond(
  handle: (response: ServerResponse) => void,
  before: (response: ServerResponse) => void = () => {},
) {
  const server = createServer((request, response) => {
    request.headers['x-request-id'] = 'r-1'
    before(response)
    addDefaultHeaders(response)
    handle(response)
  })
  const { port } = new URL(await listen(server, readConfig({ PORT: '0' })))
  const client = connect(Number(port), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const [status = '', ...lines] = ((await text(client)).split('\r\n\r\n')[0] ?? '').split('\r\n')
  server.close()
  await once(server, 'close')
  const own = lines.map((line) => line.split(': ')).map(([name = '', value]) => [name.toLowerCase(), value])
  const hopByHop = ['date', 'connection', 'content-length', 'transfer-encoding']
  return { status, headers: own.filter(([name = '']) => !hopByHop.includes(name)).sort() }
}

const expected = (more: Record<string, string> = {}) =>
  Object.entries({ ...SECURITY_HEADERS, 'x-request-id': 'r-1', ...more }).sort()

const WAYS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  end: (response) => response.end('x'),
  write: (response) => {
    response.write('x')
    response.end()
  },
  'an object': (response) => response.writeHead(200, { Vary: 'a' }).end('x'),
  'a message and an object': (response) => response.writeHead(200, 'OK', { Vary: 'a' }).end('x'),
  'an array': (response) => response.writeHead(200, ['Vary', 'a']).end('x'),
  setHeader: (response) => response.setHeader('Vary', 'a').end('x'),
  'setHeader and an object': (response) =>
    response.setHeader('vary', 'b').writeHead(200, { Vary: 'a' }).end('x'),
}

for (const [way, handle] of Object.entries(WAYS))
  test(`a head by ${way} has all headers once`, LIMIT, async () => {
    const { status, headers } = await respond(handle)
    equal(status, 'HTTP/1.1 200 OK')
    deepEqual(headers, expected(way === 'end' || way === 'write' ? {} : { vary: 'a' }))
  })

test(
  'a header that the handler sets stays, in any case of letters; the id is that of the request',
  LIMIT,
  async () => {
    const own = { 'Content-Security-Policy': 'own', 'X-Request-Id': 'other' }
    const { headers } = await respond((response) => response.writeHead(200, own).end())
    deepEqual(headers, expected({ [POLICY]: 'own' }))
    const ways: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(200, Object.entries(own).flat()).end(),
      (response) => response.setHeaders(new Map(Object.entries(own))).end(),
      (response) => response.setHeader(POLICY, 'other').writeHead(200, own).end(),
    ]
    for (const way of ways) deepEqual((await respond(way)).headers, expected({ [POLICY]: 'own' }))
  },
)

test('a writeHead that was replaced before is called with all headers', LIMIT, async () => {
  const { headers } = await respond(
    (response) => response.end('x'),
    (response) => {
      const { writeHead } = response
      response.writeHead = (status: number, ...rest: unknown[]) =>
        writeHead.call(response, status, { ...Object(rest.at(-1)), [POLICY]: 'theirs' })
    },
  )
  deepEqual(headers, expected({ [POLICY]: 'theirs' }))
})
