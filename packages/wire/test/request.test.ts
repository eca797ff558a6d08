import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Header, type Request, requestBytes } from '../src/request.ts'
import { authority, targetOf } from '../src/target.ts'

test('nothing is added to a request but Host and the length of the body, unless they are given, true or not', () => {
  const text = (request: Request) => requestBytes(request, 'h:1').toString('latin1').replaceAll('\r\n', '|')
  assert.equal(text({ target: '/%zz' }), 'GET /%zz HTTP/1.1|host: h:1||')
  const post = { method: 'POST', target: '/' }
  assert.equal(text({ ...post, body: 'ü' }), 'POST / HTTP/1.1|host: h:1|content-length: 2||\xc3\xbc')
  assert.equal(text(post), 'POST / HTTP/1.1|host: h:1|content-length: 0||')
  const headers: Header[] = [
    ['Content-Length', '9'],
    ['HOST', '\xfc'],
  ]
  assert.equal(text({ ...post, headers, body: 'a' }), 'POST / HTTP/1.1|Content-Length: 9|HOST: \xfc||a')
  assert.doesNotMatch(text({ ...post, headers: [['transfer-encoding', 'chunked']] }), /content-length/)
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
