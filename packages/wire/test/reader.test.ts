import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoResponse, type Response, ResponseReader } from '../src/reader.ts'

/** Reads the bytes of a connection in pieces, and then its end. */
function readAll(pieces: Buffer[], method = 'GET'): Response[] {
  const reader = new ResponseReader(method, Number.POSITIVE_INFINITY)
  const found: Response[] = []
  const take = () => {
    const response = reader.response()
    assert.ok(response)
    assert.equal(response.body.length, reader.bodyLength)
    found.push(response)
  }
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      at = reader.read(piece, at, piece.length)
      if (reader.complete) take()
      else assert.equal(at, piece.length)
    }
  }
  if (reader.end()) take()
  else assert.equal(reader.started, false, 'the stream ends inside a response')
  return found
}

/** Pieces of the given sizes, over and over. */
function cuts(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const end = at + (sizes[n % sizes.length] ?? 1)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

function formatRead({ status, framing, reusable, body }: Response): string {
  return `${status} ${framing}${reusable ? '' : ', last'}: ${body}`
}

const LENGTH = 'HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 5\r\n\r\nhello'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const HELLO = '200 length: hello'

/** The bytes of a connection, and its responses: status, framing, whether it is the last one, and body. */
const STREAMS: Readonly<Record<string, readonly [text: string, ...responses: string[]]>> = {
  'two responses': [LENGTH + LENGTH.replace('200', '500'), HELLO, '500 length: hello'],
  'an empty body': [LENGTH.replace('5\r\n\r\nhello', '0\r\n\r\n') + LENGTH, '200 length: ', HELLO],
  chunks: [
    `${CHUNKED}5\r\nhello\r\n00A\r\n, world\r\n\r\r\n0\r\n\r\n${LENGTH}`,
    '200 chunked: hello, world\r\n\r',
    HELLO,
  ],
  'chunks with extensions and trailers': [
    `${CHUNKED}5;a="b;c" ; d\r\nhello\r\n1 \r\n!\r\n0;last\r\nContent-Length: 99\r\nx: y\r\n\r\n${LENGTH}`,
    '200 chunked: hello!',
    HELLO,
  ],
  'transfer-encoding over content-length': [
    `${LENGTH.slice(0, -9)}\r\nTRANSFER-encoding: gzip , CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n${LENGTH}`,
    '200 chunked: x',
    HELLO,
  ],
  '204 and 304': [
    `HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n${LENGTH}`,
    '204 none: ',
    '304 none: ',
    HELLO,
  ],
  'informational responses first': [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>; connection: close\r\n\r\n${LENGTH}`,
    HELLO,
  ],
  'connection: close': [
    'HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 2\r\n\r\nhi',
    '200 length, last: hi',
  ],
  'a body that ends with the connection': [
    'HTTP/1.1 200 OK\r\n\r\nuntil\r\n\r\nclose',
    '200 close, last: until\r\n\r\nclose',
  ],
  'a transfer-encoding that is not chunked at last': [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\nContent-Length: 1\r\n\r\nabc',
    '200 close, last: abc',
  ],
  'HTTP/1.0': [
    'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na' +
      'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nb',
    '200 length: a',
    '200 length, last: b',
  ],
  'bare line feeds, no reason, odd white space': [
    'HTTP/1.1 200\nContent-Length:\t 2 \t\nX:\nConnection:close ,\n\nhi',
    '200 length, last: hi',
  ],
  'names that only begin or end like known ones': [
    'HTTP/1.1 200 \r\nContent-Length-X: 9\r\nX-Content-Length: 9\r\nConnectio: close\r\nContent-Length: 2\r\n\r\nhi',
    '200 length: hi',
  ],
  'the same length twice': [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nhi',
    '200 length: hi',
  ],
}

for (const [name, [text, ...responses]] of Object.entries(STREAMS)) {
  test(`${name}, however the bytes are cut`, () => {
    const bytes = Buffer.from(text, 'latin1')
    const found = (sizes: readonly number[]) => readAll(cuts(bytes, sizes)).map(formatRead)
    for (let size = 1; size <= bytes.length; size++)
      for (const sizes of [[size], [size, bytes.length], [size, 1, 3]])
        assert.deepEqual(found(sizes), responses)
  })
}

test('a response to HEAD has no body; headers keep their order, case and repetition', () => {
  const first = 'HTTP/1.1 200 Very OK\r\nB: 1\r\na: 2\r\nb: 3\r\nContent-Length: 5\r\n\r\n'
  const heads = readAll([Buffer.from(first + CHUNKED)], 'HEAD')
  assert.deepEqual(heads.map(formatRead), ['200 none: ', '200 none: '])
  assert.equal(heads[0]?.headers.join('; '), 'B,1; a,2; b,3; Content-Length,5')
  assert.deepEqual(heads[0]?.faults, [])
})

const MALFORMED = {
  'another protocol': 'SSH-2.0-OpenSSH\r\n',
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
  'a length beyond all bounds': 'HTTP/1.1 200 OK\r\ncontent-length: 9999999999999999\r\n\r\n',
  'a chunk without size': `${CHUNKED}\r\n`,
  'a chunk size that is not hexadecimal': `${CHUNKED}g\r\n`,
  'a chunk size beyond all bounds': `${CHUNKED}10000000000000\r\n`,
  'a chunk longer than its size': `${CHUNKED}1\r\nab\r\n`,
  'two carriage returns after a chunk': `${CHUNKED}1\r\na\r\r\n`,
}

test('bytes that are not a response are refused, however they are cut', () => {
  for (const [name, text] of Object.entries(MALFORMED)) {
    const bytes = Buffer.from(text, 'latin1')
    const refused = (error: unknown) => error instanceof NoResponse && error.failure === 'malformed'
    for (const size of [1, bytes.length]) assert.throws(() => readAll(cuts(bytes, [size])), refused, name)
  }
})

test('a connection that ends inside a response is not a proper end', () => {
  for (const text of [LENGTH, `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`]) {
    for (let length = 1; length < text.length; length++) {
      const reader = new ResponseReader()
      reader.read(Buffer.from(text), 0, length)
      assert.equal(reader.started, true)
      assert.equal(reader.end(), false)
    }
  }
})

test('what can be read, but should not be so, is a fault', () => {
  const faults = (text: string) => readAll([Buffer.from(text, 'latin1')])[0]?.faults
  const both = `${LENGTH.slice(0, -9)}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`
  assert.deepEqual(faults(both), ['both transfer-encoding and content-length'])
  assert.deepEqual(faults('HTTP/1.1 204 X\nx: y\r\n\r\n'), ['a line that ends in LF without CR'])
  assert.deepEqual(faults('HTTP/1.1 204\r\n\r\n'), ['no space behind the status'])
  assert.deepEqual(faults('HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc'), [
    'the transfer-encoding gzip',
  ])
  assert.deepEqual(faults(`${CHUNKED}1;a=b\r\na\r\n0\r\n\r\n`), ['a chunk with an extension'])
  assert.deepEqual(faults(`${CHUNKED}1\na\r\n0\r\n\r\n`), ['a line that ends in LF without CR'])
  for (const value of ['a', '  a', ' a ', '\ta', ' a\t', ' ', ''])
    assert.deepEqual(faults(`HTTP/1.1 204 X\r\nx:${value}\r\n\r\n`), [
      `odd whitespace in the header ${JSON.stringify(`x:${value}`)}`,
    ])
})

test('of a body, only what is wanted is kept', () => {
  const reader = new ResponseReader()
  const kept = [0, 1, 0].map((keep) => {
    const bytes = Buffer.from(LENGTH)
    reader.keep = keep
    reader.read(bytes, 0, bytes.length)
    bytes.fill('-') // as a buffer that is used again
    return reader.body().toString()
  })
  assert.deepEqual(kept, ['', 'hello', ''])
  assert.equal(reader.bodyLength, 5)
})
