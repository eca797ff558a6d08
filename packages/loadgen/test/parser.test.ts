import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { ParseError, ResponseParser } from '../src/http/parser.ts'

interface Read {
  status: number
  body: string
  reusable: boolean
}

/** Parses a connection's bytes in the pieces given, and then its end. */
function read(pieces: Buffer[], method: string): Read[] {
  const parser = new ResponseParser(method)
  const found: Read[] = []
  const take = () => {
    const { status, reusable, bodyLength } = parser
    const body = parser.takeBody()
    assert.equal(body.length, bodyLength)
    found.push({ status, body: body.toString('latin1'), reusable })
    parser.captureNext()
  }
  parser.captureNext()
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      at = parser.parse(piece, at, piece.length)
      if (parser.complete) take()
      else assert.equal(at, piece.length)
    }
  }
  if (parser.end()) take()
  else assert.equal(parser.started, false, 'the stream ends inside a response')
  return found
}

const ok = (body: string, reusable = true): Read => ({ status: 200, body, reusable })
const empty = (status: number): Read => ({ status, body: '', reusable: true })

const LENGTH = 'HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 5\r\n\r\nhello'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

const STREAMS: { name: string; text: string; responses: Read[]; method?: string }[] = [
  { name: 'content-length', text: LENGTH, responses: [ok('hello')] },
  { name: 'a pipelined pair', text: LENGTH + LENGTH, responses: [ok('hello'), ok('hello')] },
  {
    name: 'another status of the same length',
    text: LENGTH + LENGTH.replace('200 OK', '500 No') + LENGTH,
    responses: [ok('hello'), { ...ok('hello'), status: 500 }, ok('hello')],
  },
  {
    name: 'another content-length',
    text: `${LENGTH}HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 4\r\n\r\nhell${LENGTH}`,
    responses: [ok('hello'), ok('hell'), ok('hello')],
  },
  {
    name: 'an empty body',
    text: LENGTH.replace('5\r\n\r\nhello', '0\r\n\r\n') + LENGTH,
    responses: [ok(''), ok('hello')],
  },
  {
    name: 'chunks',
    text: `${CHUNKED}5\r\nhello\r\n00A\r\n, world\r\n\r\r\n0\r\n\r\n${LENGTH}`,
    responses: [ok('hello, world\r\n\r'), ok('hello')],
  },
  {
    name: 'chunks with extensions and trailers',
    text: `${CHUNKED}5;a="b;c" ; d\r\nhello\r\n1 \r\n!\r\n0;last\r\nContent-Length: 99\r\nx: y\r\n\r\n${LENGTH}`,
    responses: [ok('hello!'), ok('hello')],
  },
  {
    name: 'transfer-encoding over content-length',
    text: `${LENGTH.slice(0, -9)}\r\nTRANSFER-encoding: gzip , CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n${LENGTH}`,
    responses: [ok('x'), ok('hello')],
  },
  {
    name: '204 and 304',
    text: `HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n${LENGTH}`,
    responses: [empty(204), empty(304), ok('hello')],
  },
  {
    name: 'HEAD',
    method: 'HEAD',
    text: `${LENGTH.slice(0, -5)}${CHUNKED}${LENGTH.slice(0, -5)}`,
    responses: [ok(''), ok(''), ok('')],
  },
  {
    name: 'informational responses first',
    text: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>; connection: close\r\n\r\n${LENGTH}`,
    responses: [ok('hello')],
  },
  {
    name: 'connection: close',
    text: 'HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 2\r\n\r\nhi',
    responses: [ok('hi', false)],
  },
  {
    name: 'a body that ends with the connection',
    text: 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil\r\n\r\nclose',
    responses: [ok('until\r\n\r\nclose', false)],
  },
  {
    name: 'a transfer-encoding that is not chunked at last',
    text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\nContent-Length: 1\r\n\r\nabc',
    responses: [ok('abc', false)],
  },
  {
    name: 'HTTP/1.0',
    text:
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na' +
      'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nb',
    responses: [ok('a'), ok('b', false)],
  },
  {
    name: 'bare line feeds, no reason, odd white space',
    text: 'HTTP/1.1 200\nContent-Length:\t 2 \t\nX:\nConnection:close ,\n\nhi',
    responses: [ok('hi', false)],
  },
  {
    name: 'names that only begin or end like known ones',
    text: 'HTTP/1.1 200 \r\nContent-Length-X: 9\r\nX-Content-Length: 9\r\nConnectio: close\r\nContent-Length: 2\r\n\r\nhi',
    responses: [ok('hi')],
  },
  {
    name: 'the same length twice',
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nhi',
    responses: [ok('hi')],
  },
]

for (const { name, text, responses, method = 'GET' } of STREAMS) {
  const bytes = Buffer.from(text, 'latin1')

  test(`${name}: whole, and split at every place`, () => {
    assert.deepEqual(read([bytes], method), responses)
    for (let at = 1; at < bytes.length; at++) {
      assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)], method), responses, `split at ${at}`)
    }
  })

  test(`${name}: byte by byte, and in random pieces`, () => {
    assert.deepEqual(
      read(
        [...bytes].map((byte) => Buffer.of(byte)),
        method,
      ),
      responses,
    )
    const random = createRandom(1)
    for (let round = 0; round < 200; round++) {
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + Math.floor(random() * 20)
        pieces.push(bytes.subarray(at, end))
        at = end
      }
      assert.deepEqual(read(pieces, method), responses)
    }
  })
}

const MALFORMED = {
  'another protocol': 'SSH-2.0-OpenSSH\r\n',
  'HTTP/2': 'HTTP/2.0 200 OK\r\n\r\n',
  'HTTP/1.2': 'HTTP/1.2 200 OK\r\n\r\n',
  'no space after the version': 'HTTP/1.1-200 OK\r\n\r\n',
  'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
  'a status of four digits': 'HTTP/1.1 2000 OK\r\n\r\n',
  'a status below 100': 'HTTP/1.1 099 OK\r\n\r\n',
  'a header without colon': 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n',
  'a header without name': 'HTTP/1.1 200 OK\r\n: x\r\n\r\n',
  'a space before the colon': 'HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\n',
  'a folded header': 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n',
  'a control character': 'HTTP/1.1 200 OK\r\na: b\0\r\n\r\n',
  'a carriage return alone': 'HTTP/1.1 200 OK\r\na: b\rc\r\n\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
  'a list of lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1, 1\r\n\r\n',
  'a negative length': 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
  'an empty length': 'HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n',
  'a length in two parts': 'HTTP/1.1 200 OK\r\ncontent-length: 1 2\r\n\r\n',
  'a length beyond all bounds': 'HTTP/1.1 200 OK\r\ncontent-length: 9999999999999999\r\n\r\n',
  'a chunk without size': `${CHUNKED}\r\n`,
  'a chunk size that is not hexadecimal': `${CHUNKED}g\r\n`,
  'a chunk size beyond all bounds': `${CHUNKED}10000000000000\r\n`,
  'a chunk longer than its size': `${CHUNKED}1\r\nab\r\n`,
  'two carriage returns after a chunk': `${CHUNKED}1\r\na\r\r\n`,
}

for (const [name, text] of Object.entries(MALFORMED)) {
  test(`${name} is refused, however it is split`, () => {
    const bytes = Buffer.from(text, 'latin1')
    assert.throws(() => read([bytes], 'GET'), ParseError)
    assert.throws(
      () =>
        read(
          [...bytes].map((byte) => Buffer.of(byte)),
          'GET',
        ),
      ParseError,
    )
  })
}

test('a connection that ends inside a response is not a proper end', () => {
  for (const text of [LENGTH, `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`]) {
    for (let length = 1; length < text.length; length++) {
      const parser = new ResponseParser()
      parser.parse(Buffer.from(text), 0, length)
      assert.equal(parser.started, true)
      assert.equal(parser.end(), false)
    }
  }
})

test('a body is kept only when asked for, and only once', () => {
  const parser = new ResponseParser()
  const bytes = Buffer.from(LENGTH)
  parser.parse(bytes, 0, bytes.length)
  assert.equal(parser.takeBody().length, 0)
  parser.captureNext()
  parser.parse(bytes, 0, bytes.length)
  assert.equal(parser.takeBody().toString(), 'hello')
  parser.parse(bytes, 0, bytes.length)
  assert.equal(parser.takeBody().length, 0)
})
