import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import app from '../src/hello.ts'
import { ask } from './fake-request.ts'

test('GET / and GET /json', () => {
  const text = { 'content-type': 'text/plain; charset=utf-8' }
  deepEqual(ask(app, '/'), { status: 200, headers: text, body: 'Hello World!', errors: [] })
  const json = { 'content-type': 'application/json; charset=utf-8' }
  deepEqual(ask(app, '/json'), { status: 200, headers: json, body: '{"hello":"world"}', errors: [] })
})

test('GET /hello/:name', () => {
  equal(ask(app, '/hello/Ada').body, 'Hello, Ada!')
  equal(ask(app, '/hello/%E4%B8%96%E7%95%8C').body, 'Hello, 世界!')
  equal(ask(app, '/hello/a%2Fb').body, 'Hello, a/b!')
  for (const target of ['/hello', '/hello/', '/hello/a/b']) equal(ask(app, target).status, 404)
})
