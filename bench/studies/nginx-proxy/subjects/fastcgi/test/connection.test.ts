import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Connection, type Handler } from '../src/connection.ts'
import {
  ABORT,
  begin,
  decode,
  END,
  encode,
  PARAMS,
  readResponse,
  request,
  stream,
  variables,
} from './records.ts'

/** Responds with what it was asked. */
const echo: Handler = (params) => ({
  status: 200,
  headers: { 'x-a': 1 },
  body: params.get('REQUEST_URI') ?? '',
})

class Recorder {
  readonly sent: Buffer[] = []
  state: 'open' | 'ended' | 'destroyed' = 'open'
  paused = false
  isFull = false

  write(bytes: Buffer): boolean {
    this.sent.push(Buffer.from(bytes))
    return !this.isFull
  }
  pause(): void {
    this.paused = true
  }
  end(): void {
    this.state = 'ended'
  }
  destroy(): void {
    this.state = 'destroyed'
  }
  get records() {
    return decode(Buffer.concat(this.sent))
  }
}

function open(handler = echo) {
  const wire = new Recorder()
  return { wire, connection: new Connection(wire, handler) }
}

test('a request gets its response, however its bytes are cut, and the next one too', () => {
  const bytes = encode(...request(1, variables('/one', { LONG: 'x'.repeat(300) })))
  for (const size of [bytes.length, 1, 7, 100]) {
    const { wire, connection } = open()
    for (let at = 0; at < bytes.length; at += size) connection.push(bytes.subarray(at, at + size))
    const { status, headers, body } = readResponse(wire.records, 1)
    deepEqual([status, headers['x-a'], String(body)], [200, '1', '/one'])
    connection.push(encode(...request(2, variables('/two'))))
    equal(String(readResponse(wire.records, 2).body), '/two')
    equal(wire.state, 'open')
  }
})

test('padding, a body, and records of other requests change nothing', () => {
  const { wire, connection } = open()
  const stray = { type: ABORT, id: 9, content: new Uint8Array() }
  const records = request(1, variables('/one'), 'a body').flatMap((one) => [stray, { ...one, padding: 5 }])
  connection.push(encode(...records))
  equal(String(readResponse(wire.records, 1).body), '/one')
})

test('an aborted request gets no response, and its connection stays', () => {
  const { wire, connection } = open()
  connection.push(encode(begin(1), { type: ABORT, id: 1, content: new Uint8Array() }))
  deepEqual(
    wire.records.map(({ type, id }) => [type, id]),
    [[END, 1]],
  )
  connection.push(encode(...request(1, variables('/one'))))
  equal(String(readResponse(wire.records.slice(1), 1).body), '/one')
})

test('a connection ends with its response if the web server or the drain says so', () => {
  const once = open()
  const [, ...rest] = request(1, variables('/'))
  once.connection.push(encode(begin(1, { flags: 0 }), ...rest))
  equal(once.wire.state, 'ended')
  const idle = open()
  idle.connection.drain()
  equal(idle.wire.state, 'ended')
  const busy = open()
  busy.connection.push(encode(begin(1)))
  busy.connection.drain()
  equal(busy.wire.state, 'open')
  busy.connection.push(encode(...rest))
  equal(busy.wire.state, 'ended')
  ok(busy.wire.sent.length > 0)
})

test('what no web server sends ends the connection', () => {
  const pairs = Buffer.of(200, 1, 2, 3)
  const wrong: Buffer[] = [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    encode(begin(1, { role: 2 })),
    encode(begin(1), begin(2)),
    encode(begin(1), ...stream(PARAMS, 1, pairs), { type: 5, id: 1, content: new Uint8Array() }),
    encode(begin(1), { type: 5, id: 1, content: new Uint8Array() }),
    encode(
      begin(1),
      ...Array.from({ length: 5 }, () => ({ type: PARAMS, id: 1, content: new Uint8Array(65_535) })),
    ),
  ]
  for (const bytes of wrong) {
    const { wire, connection } = open()
    connection.push(bytes)
    equal(wire.state, 'destroyed')
    connection.push(encode(...request(1, variables('/'))))
    deepEqual(wire.sent, [])
  }
})

test('a web server that does not read is not read', () => {
  const { wire, connection } = open()
  wire.isFull = true
  connection.push(encode(...request(1, variables('/'))))
  equal(wire.paused, true)
})
