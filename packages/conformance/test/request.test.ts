import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTarget } from '@startgrid/cli/arguments.ts'
import { describeRequest, requestBytes } from '../src/http/request.ts'
import { authority } from '../src/http/target.ts'

test('nothing is added to a request but Host and the length of the body', () => {
  assert.equal(String(requestBytes({ target: '/%zz' }, 'h:1')), 'GET /%zz HTTP/1.1\r\nhost: h:1\r\n\r\n')
  assert.equal(
    String(requestBytes({ method: 'POST', target: '/', body: 'ü' }, 'h')),
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nü',
  )
})

test('a length that is given stands, true or not', () => {
  const headers = [['Content-Length', '9'] as const]
  assert.equal(
    String(requestBytes({ target: '/', headers, body: 'a' }, 'h')),
    'GET / HTTP/1.1\r\nhost: h\r\nContent-Length: 9\r\n\r\na',
  )
})

test('headers go out as bytes', () => {
  const bytes = requestBytes({ target: '/', headers: [['x', '\xfc']] }, 'h')
  assert.ok(bytes.includes(Buffer.from([0x78, 0x3a, 0x20, 0xfc, 0x0d, 0x0a])))
})

test('a request is described on one line', () => {
  const headers = [['x', 'a\r\nb\u00fc'] as const]
  const text = describeRequest({
    method: 'PUT',
    target: '/a',
    headers,
    body: 'abc',
  })
  assert.equal(text, 'PUT /a, x: a\\r\\nb\\u00fc, a body of 3 bytes')
})

test('a target is an origin', () => {
  assert.deepEqual(parseTarget('http://127.0.0.1:3000'), { host: '127.0.0.1', port: 3000 })
  assert.deepEqual(parseTarget('http://example.com/'), { host: 'example.com', port: 80 })
  assert.equal(authority(parseTarget('http://[::1]:8080')), '[::1]:8080')
  assert.deepEqual(parseTarget('https://localhost', true), { host: 'localhost', port: 443, ca: null })
  assert.match(String(parseTarget('https://a').ca), /^-----BEGIN CERTIFICATE-----/)
  for (const text of ['http://127.0.0.1', 'https://192.0.2.1', 'https://a.example'])
    assert.throws(() => parseTarget(text, true), { name: 'UsageError', message: /^--insecure is for / })
  for (const text of ['127.0.0.1:3000', 'ftp://a', 'http://a/b', 'http://a/?x', '']) {
    assert.throws(() => parseTarget(text), { name: 'UsageError' })
  }
})
