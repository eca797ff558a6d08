import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asyncProperty, assert as holds, nat, uniqueArray } from 'fast-check'
import { type HttpResponse, readBody, readHead } from '../src/http/response.ts'
import { ByteSource, NoResponse } from '../src/http/source.ts'

async function read(text: string, method = 'GET'): Promise<HttpResponse> {
  const source = new ByteSource()
  source.push(Buffer.from(text, 'latin1'))
  source.end(new NoResponse('closed', 'the connection was closed'))
  return readBody(source, await readHead(source), method)
}

describe('a response', () => {
  test('keeps the order, case and repetition of its headers', async () => {
    const { status, reason, headers } = await read(
      'HTTP/1.1 200 Very OK\r\nB: 1\r\na: 2\r\nb: 3\r\nContent-Length: 0\r\n\r\n',
    )
    assert.equal(status, 200)
    assert.equal(reason, 'Very OK')
    assert.deepEqual(headers, [
      ['B', '1'],
      ['a', '2'],
      ['b', '3'],
      ['Content-Length', '0'],
    ])
  })

  test('may have an empty reason, but not without its space', async () => {
    assert.equal((await read('HTTP/1.1 204 \r\n\r\n')).reason, '')
    await assert.rejects(read('HTTP/1.1 204\r\n\r\n'), /no valid status line/)
  })

  test('is read by its content-length', async () => {
    const { body, framing } = await read('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcd')
    assert.equal(String(body), 'abc')
    assert.equal(framing, 'length')
  })

  test('is read in chunks, with trailers', async () => {
    const response = await read(
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n',
    )
    assert.equal(String(response.body), 'abc0123456789')
    assert.equal(response.fragments.length, 2)
    assert.deepEqual(response.trailers, [['x', 'y']])
  })

  test('is read to the end of the connection without either', async () => {
    const { body, framing } = await read('HTTP/1.0 200 OK\r\n\r\nabc')
    assert.equal(String(body), 'abc')
    assert.equal(framing, 'close')
  })

  for (const [status, method] of [
    [200, 'HEAD'],
    [204, 'GET'],
    [304, 'GET'],
  ] as const) {
    test(`to ${method} with status ${status} has no body`, async () => {
      const { body, framing } = await read(`HTTP/1.1 ${status} X\r\ncontent-length: 3\r\n\r\nabc`, method)
      assert.equal(body.length, 0)
      assert.equal(framing, 'none')
    })
  }
})

describe('bytes that are not a response', () => {
  const malformed = {
    'another protocol': 'HTTP/2 200 OK\r\n\r\n',
    'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
    'a bare LF': 'HTTP/1.1 200 OK\nx: y\r\n\r\n',
    'a header without colon': 'HTTP/1.1 200 OK\r\nx\r\n\r\n',
    'a space before the colon': 'HTTP/1.1 200 OK\r\nx : y\r\n\r\n',
    'a folded line': 'HTTP/1.1 200 OK\r\nx: y\r\n z: a\r\n\r\n',
    'a content-length that is no number': 'HTTP/1.1 200 OK\r\ncontent-length: 3x\r\n\r\nabc',
    'two content-lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc',
    'another transfer coding': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc',
    'a chunk extension': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a=b\r\na\r\n0\r\n\r\n',
    'a chunk without its end': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n',
  }
  for (const [name, text] of Object.entries(malformed)) {
    test(name, () => assert.rejects(read(text), { name: 'NoResponse', failure: 'malformed' }))
  }

  test('a body that is cut off', async () => {
    const start = 'HTTP/1.1 200 OK\r\n'
    await assert.rejects(
      read(`${start}content-length: 3\r\n\r\nab`),
      /closed 1 bytes before the content-length of 3/,
    )
    await assert.rejects(read(`${start}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`), {
      failure: 'closed',
    })
    await assert.rejects(read('HTTP/1.1 200'), { failure: 'closed' })
  })
})

describe('a response that can be read, but should not be so', () => {
  test('with both framings', async () => {
    const { faults } = await read(
      'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    )
    assert.deepEqual(faults, ['both transfer-encoding and content-length'])
  })

  for (const value of ['a', '  a', ' a ', '\ta', ' a\t', ' ', '']) {
    test(`with ${JSON.stringify(value)} behind the colon`, async () => {
      const { faults } = await read(`HTTP/1.1 204 X\r\nx:${value}\r\n\r\n`)
      assert.equal(faults.length, 1)
    })
  }
})

test('a response is the same however it is cut', async () => {
  const whole = Buffer.from(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nHTTP/1.1 204 X\r\n\r\n',
  )
  const cuts = uniqueArray(nat(whole.length), { maxLength: 20 })
  await holds(
    asyncProperty(cuts, async (places) => {
      const source = new ByteSource()
      const sorted = [0, ...places.sort((a, b) => a - b), whole.length]
      const responses = readTwo(source)
      for (const [index, end] of sorted.slice(1).entries()) {
        source.push(whole.subarray(sorted[index], end))
        await undefined
      }
      const [first, second] = await responses
      assert.equal(String(first.body), 'abcde')
      assert.equal(second.status, 204)
      assert.equal(source.length, 0)
    }),
  )
})

async function readTwo(source: ByteSource): Promise<[HttpResponse, HttpResponse]> {
  const first = await readBody(source, await readHead(source), 'GET')
  return [first, await readBody(source, await readHead(source), 'GET')]
}
