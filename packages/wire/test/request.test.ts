import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestBytes } from '../src/request.ts'
import { authority, targetOf } from '../src/target.ts'

test('nothing is added to a request but Host and the length of the body', () => {
  assert.equal(String(requestBytes({ target: '/%zz' }, 'h:1')), 'GET /%zz HTTP/1.1\r\nhost: h:1\r\n\r\n')
  assert.equal(
    String(requestBytes({ method: 'POST', target: '/', body: 'ü' }, 'h')),
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nü',
  )
  assert.equal(
    String(requestBytes({ method: 'POST', target: '/' }, 'h')),
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n',
  )
})

test('a Host and a length that are given stand, true or not, and headers go out as bytes', () => {
  const headers = [
    ['Content-Length', '9'],
    ['HOST', '\xfc'],
  ] as const
  assert.equal(
    requestBytes({ target: '/', headers, body: 'a' }, 'h').toString('latin1'),
    'GET / HTTP/1.1\r\nContent-Length: 9\r\nHOST: \xfc\r\n\r\na',
  )
  const chunked = { target: '/', headers: [['transfer-encoding', 'chunked']], body: '0\r\n\r\n' } as const
  assert.doesNotMatch(String(requestBytes(chunked, 'h')), /content-length/)
})

test('the target of a URL', () => {
  const target = (url: string, insecure?: boolean) => targetOf(new URL(url), insecure)
  assert.deepEqual(target('http://127.0.0.1:3000'), { host: '127.0.0.1', port: 3000 })
  assert.equal(authority(target('http://example.com/')), 'example.com')
  assert.equal(authority(target('http://[::1]:8080')), '[::1]:8080')
  assert.deepEqual(target('https://localhost', true), { host: 'localhost', port: 443, ca: null })
  assert.match(String(target('https://a').ca), /^-----BEGIN CERTIFICATE-----/)
  for (const url of ['http://127.0.0.1', 'https://192.0.2.1', 'https://a.example'])
    assert.throws(() => target(url, true), { name: 'TargetError', message: /^--insecure is for / })
})
