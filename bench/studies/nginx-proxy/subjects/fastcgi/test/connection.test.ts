import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { Connection, type Respond } from '../src/responder/connection.ts'
import type { Request } from '../src/responder/request.ts'
import {
  ABORT,
  begin,
  END,
  encode,
  encodePairs,
  GET_VALUES,
  GET_VALUES_RESULT,
  PARAMS,
  readResponse,
  request,
  STDIN,
  STDOUT,
  stream,
  UNKNOWN_TYPE,
  variables,
  type WireRecord,
} from './support/records.ts'
import { RecordingWire } from './support/wire.ts'

const LIMITS = { params: 1_000, body: 100 }

/** A connection whose requests get a response when the test wants it. */
function connect(limits = LIMITS) {
  const wire = new RecordingWire()
  const handled: { request: Request; respond: Respond }[] = []
  const handler = (request: Request, respond: Respond) => handled.push({ request, respond })
  const connection = new Connection(wire, handler, limits)
  const send = (...records: readonly WireRecord[]) => connection.push(encode(...records))
  return { wire, handled, connection, send }
}

function isNotEmpty({ content }: WireRecord): boolean {
  return content.length > 0
}

function endRequest(protocolStatus: number): Buffer {
  return Buffer.of(0, 0, 0, 0, protocolStatus, 0, 0, 0)
}

test('a request is handled when all of it has come, and the response is CGI', () => {
  const { wire, handled, send } = connect()
  const records = request(7, variables('/a?b=c', { HTTP_ACCEPT: '*/*', CONTENT_LENGTH: '4' }), 'body')
  for (const record of records.slice(0, -1)) send(record)
  equal(handled.length, 0)
  send(...records.slice(-1))
  const [{ request: received, respond } = {}] = handled
  deepEqual(
    { ...received, params: received?.params.get('HTTP_ACCEPT'), body: String(received?.body) },
    {
      method: 'GET',
      url: '/a?b=c',
      params: '*/*',
      body: 'body',
      refusal: undefined,
    },
  )
  deepEqual(wire.take(), [])
  respond?.(404, { 'content-type': 'text/plain', 'x-count': 3 }, 'not here: \u20ac')
  const response = readResponse(wire.take(), 7)
  equal(response.status, 404)
  deepEqual(response.headers, { 'content-type': 'text/plain', 'x-count': '3' })
  equal(String(response.body), 'not here: \u20ac')
  equal(wire.ended, false)
})

test('one connection serves one request after the other, and the same id again', () => {
  const { wire, handled, send } = connect()
  for (const [index, id] of [1, 1, 2, 65_535].entries()) {
    send(...request(id, variables(`/${index}`)))
    equal(handled[index]?.request.url, `/${index}`)
    handled[index]?.respond(200, {}, String(index))
    equal(String(readResponse(wire.take(), id).body), String(index))
  }
})

test('a response of any size comes in records that can carry it', () => {
  const { wire, handled, send } = connect()
  // With a head of 18 bytes, 65,517 fill one record and 131,052 fill two.
  for (const size of [0, 1, 65_516, 65_517, 65_518, 131_052, 131_053, 1_000_000]) {
    for (const body of ['\u00e9'.repeat(size / 2), Buffer.alloc(size, 'b')]) {
      send(...request(1, variables('/')))
      handled.pop()?.respond(200, {}, body)
      deepEqual(readResponse(wire.take(), 1).body, Buffer.from(body))
    }
  }
})

test('the response to HEAD has no body', () => {
  const { wire, handled, send } = connect()
  send(...request(1, variables('/', { REQUEST_METHOD: 'HEAD' })))
  handled[0]?.respond(200, { 'content-length': 4 }, 'body')
  const { headers, body } = readResponse(wire.take(), 1)
  deepEqual([headers, body.length], [{ 'content-length': '4' }, 0])
})

test('a header that would be two is not sent, and another response can be', () => {
  const { wire, handled, send } = connect()
  send(...request(1, variables('/')))
  for (const headers of [{ 'x-a': 'b\r\nset-cookie: c' }, { 'x-a': '\u20ac' }, { 'x a': 'b' }, { '': 'b' }]) {
    throws(() => handled[0]?.respond(200, headers), TypeError)
  }
  deepEqual(wire.take(), [])
  handled[0]?.respond(500, { 'x-a': 'caf\u00e9' })
  deepEqual(readResponse(wire.take(), 1).headers, { 'x-a': 'caf\u00e9' })
})

test('without the flag to keep it, the connection ends with the response', () => {
  const { wire, handled, send } = connect()
  send(begin(1, { flags: 0 }), ...request(1, variables('/')).slice(1))
  equal(wire.ended, false)
  handled[0]?.respond(200, {})
  equal(readResponse(wire.take(), 1).status, 200)
  equal(wire.ended, true)
  send(...request(2, variables('/')))
  equal(handled.length, 1)
})

test('what comes in one piece with the last request of a connection is ignored', () => {
  const wire = new RecordingWire()
  const connection = new Connection(wire, ({ url }, respond) => respond(200, {}, url), LIMITS)
  const last = [begin(1, { flags: 0 }), ...request(1, variables('/last')).slice(1)]
  connection.push(encode(...last, ...request(1, variables('/more'))))
  equal(String(readResponse(wire.take(), 1).body), '/last')
})

test('a second request at the same time is refused, and the first not disturbed', () => {
  const { wire, handled, send } = connect()
  const first = request(1, variables('/first', { CONTENT_LENGTH: '5' }), 'first')
  const second = request(2, variables('/second'), 'second')
  // Interleaved record by record.
  for (const [index, record] of first.entries()) send(record, ...second.slice(index, index + 1))
  deepEqual(wire.take(), [{ type: END, id: 2, content: endRequest(1) }])
  deepEqual(
    handled.map(({ request: { url, body } }) => [url, String(body)]),
    [['/first', 'first']],
  )
  handled[0]?.respond(200, {})
  send(...request(2, variables('/second')))
  equal(handled[1]?.request.url, '/second')
})

test('a role other than responder is refused', () => {
  for (const flags of [0, 1]) {
    const { wire, handled, send } = connect()
    send(begin(1, { role: 2, flags }), ...request(1, variables('/')).slice(1))
    deepEqual(wire.take(), [{ type: END, id: 1, content: endRequest(3) }])
    equal(handled.length, 0)
    equal(wire.ended, flags === 0)
  }
})

test('an aborted request ends at once, and its response is not sent any more', () => {
  const { wire, handled, send } = connect()
  const abort = { type: ABORT, id: 1, content: new Uint8Array() }
  send(...request(1, variables('/')), abort)
  deepEqual(wire.take(), [{ type: END, id: 1, content: endRequest(0) }])
  send(...request(1, variables('/next')))
  handled[0]?.respond(200, {}, 'late')
  deepEqual(wire.take(), [])
  handled[1]?.respond(200, {}, 'next')
  equal(String(readResponse(wire.take(), 1).body), 'next')
  send(begin(2), abort, { ...abort, id: 2 })
  deepEqual(wire.take(), [{ type: END, id: 2, content: endRequest(0) }])
})

test('nothing is sent twice, or to a closed socket', () => {
  const { wire, handled, send, connection } = connect()
  send(...request(1, variables('/')))
  handled[0]?.respond(200, {})
  handled[0]?.respond(500, {})
  equal(readResponse(wire.take(), 1).status, 200)
  send(...request(2, variables('/')))
  connection.closed()
  handled[1]?.respond(200, {})
  deepEqual(wire.take(), [])
})

test('says what it can do', () => {
  const { wire, send } = connect()
  const names = ['FCGI_MPXS_CONNS', 'FCGI_MAX_CONNS', 'SOMETHING', 'constructor']
  send({ type: GET_VALUES, id: 0, content: encodePairs(names.map((name) => [name, ''])) })
  const content = encodePairs([['FCGI_MPXS_CONNS', '0']])
  deepEqual(wire.take(), [{ type: GET_VALUES_RESULT, id: 0, content }])
  send({ type: GET_VALUES, id: 0, content: Buffer.of(200) })
  deepEqual(wire.take(), [{ type: GET_VALUES_RESULT, id: 0, content: Buffer.of() }])
})

test('says which management records it does not know', () => {
  const { wire, send } = connect()
  for (const type of [1, 4, 10, 12, 255]) {
    send({ type, id: 0, content: Buffer.from('whatever') })
    deepEqual(wire.take(), [{ type: UNKNOWN_TYPE, id: 0, content: Buffer.of(type, 0, 0, 0, 0, 0, 0, 0) }])
  }
})

test('records of no active request, or of no known type, are ignored', () => {
  const { wire, handled, send } = connect()
  const stray = [ABORT, PARAMS, STDIN, STDOUT, 8, 99].map((type) => ({ type, id: 3, content: Buffer.of(1) }))
  send(...stray)
  for (const record of request(1, variables('/')))
    send(record, ...stray, { type: 99, id: 1, content: Buffer.of(1) })
  deepEqual(wire.take(), [])
  equal(handled.length, 1)
})

test('streams may be cut into any records, in any order, and what follows their end is ignored', () => {
  const { handled, send } = connect()
  const params = encodePairs(variables('/pieces', { CONTENT_LENGTH: '3' }))
  const pieces = [...params].map((byte) => ({ type: PARAMS, id: 1, content: Buffer.of(byte) }))
  const end = { type: STDIN, id: 1, content: new Uint8Array() }
  const late = { type: STDIN, id: 1, content: Buffer.from('late') }
  send(begin(1), ...stream(STDIN, 1, Buffer.from('abc')), late, ...pieces, late, { ...end, type: PARAMS })
  deepEqual([handled[0]?.request.url, String(handled[0]?.request.body)], ['/pieces', 'abc'])
})

test('what is over a limit is refused and not kept; what is at it passes', () => {
  const withParams = (bytes: number) => {
    const pairs = variables('/')
    return [...pairs, ['X', 'x'.repeat(bytes - encodePairs(pairs).length - 6)] as const]
  }
  equal(encodePairs(withParams(1_000)).length, 1_000)
  for (const [pairs, body, refusal] of [
    [withParams(1_000), 'x'.repeat(100), undefined],
    [withParams(1_001), '', 431],
    [variables('/'), 'x'.repeat(101), 413],
    [variables('/', { CONTENT_LENGTH: '101' }), 'x'.repeat(101), 413],
    [withParams(1_001), 'x'.repeat(101), 431],
  ] as const) {
    const { wire, handled, send } = connect()
    // In two records, the first of which is below the limit.
    const [opening, params, paramsEnd, ...rest] = request(1, pairs)
    ok(opening && params && paramsEnd)
    const half = { ...params, content: params.content.subarray(0, 500) }
    const parts = [half, { ...params, content: params.content.subarray(500) }].filter(isNotEmpty)
    const stdin = [body.slice(0, 50), body.slice(50)].map((part) => ({
      type: STDIN,
      id: 1,
      content: Buffer.from(part),
    }))
    send(opening, ...parts, paramsEnd, ...stdin.filter(isNotEmpty), ...rest)
    const { request: received, respond } = handled[0] ?? {}
    equal(received?.refusal, refusal)
    equal(received?.body.length, body.length > 100 ? 0 : body.length)
    equal(received?.params.size, refusal === 431 ? 0 : pairs.length)
    respond?.(refusal ?? 200, {})
    equal(readResponse(wire.take(), 1).status, refusal ?? 200)
    send(...request(1, variables('/after')))
    equal(handled[1]?.request.url, '/after')
  }
})

test('what is not a request is refused: pairs that are cut off, no method, no target, another length than announced', () => {
  for (const content of [
    encodePairs(variables('/')).subarray(0, -1),
    encodePairs([['REQUEST_METHOD', 'GET']]),
    encodePairs([['REQUEST_URI', '/']]),
    Buffer.of(),
    encodePairs(variables('/', { CONTENT_LENGTH: '5' })),
    encodePairs(variables('/', { CONTENT_LENGTH: 'four' })),
  ]) {
    const { handled, send } = connect()
    send(begin(1), ...stream(PARAMS, 1, content), ...stream(STDIN, 1, Buffer.from('body')))
    equal(handled[0]?.request.refusal, 400)
  }
})

test('what is not FastCGI ends the connection, and nothing after it counts', () => {
  const short = { type: 1, id: 1, content: Buffer.of(0, 1, 1) }
  for (const bytes of [
    Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'),
    encode(short),
    encode(begin(1), begin(1)),
    encode(...request(1, variables('/')), begin(1)),
  ]) {
    const { wire, handled, connection, send } = connect()
    connection.push(bytes)
    equal(wire.destroyed, true)
    const before = handled.length
    handled[0]?.respond(200, {})
    send(...request(2, variables('/')))
    equal(handled.length, before)
    deepEqual(wire.take(), [])
  }
})

test('a peer that does not read is not read from', () => {
  const { wire, handled, send } = connect()
  send(...request(1, variables('/')))
  wire.isRead = false
  equal(wire.paused, false)
  handled[0]?.respond(200, {})
  equal(wire.paused, true)
})

test('while draining a connection ends with its response, and without a request when told to', () => {
  const busy = connect()
  busy.send(begin(1))
  const idle = connect()
  for (const { connection } of [busy, idle]) {
    connection.drain()
    connection.endIfIdle()
  }
  deepEqual([busy.wire.ended, idle.wire.ended], [false, true])
  busy.send(...request(1, variables('/')).slice(1))
  equal(busy.connection.isHandling, true)
  busy.handled[0]?.respond(200, {})
  equal(busy.connection.isHandling, false)
  equal(readResponse(busy.wire.take(), 1).status, 200)
  equal(busy.wire.ended, true)
})

test('the status line has the reason that goes with the status', () => {
  const { wire, handled, send } = connect()
  send(...request(1, variables('/')))
  handled[0]?.respond(204, {})
  const [output] = wire.take()
  match(String(output?.content), /^Status: 204 No Content\r\n\r\n$/)
})
