import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../src/base.ts'
import { ask } from './fake-request.ts'

const app = createApp({
  '/': () => ({ type: 'text/plain', body: 'home' }),
  '/echo/:one/:two': (_request, parameters) => ({ type: 'text/plain', body: JSON.stringify(parameters) }),
  '/throw': () => {
    throw new Error('the secret cause')
  },
})

function problem(status: number, title: string): string {
  return `{"type":"about:blank","title":"${title}","status":${status}}`
}

test('routes by the target as it was sent', () => {
  equal(ask(app, '/').body, 'home')
  equal(ask(app, '/?any=query').body, 'home')
  equal(ask(app, '/echo/a%2Fb/%C3%A9+').body, '["a/b","é+"]')
  for (const target of [
    '/x',
    '//',
    '/echo/a',
    '/echo//b',
    '/echo/a/',
    '/echo/a/b/c',
    '/ECHO/a/b',
    '/constructor',
    '',
  ]) {
    const { status, body, headers } = ask(app, target)
    deepEqual([status, body], [404, problem(404, 'Not Found')], target)
    equal(headers['content-type'], 'application/problem+json')
  }
})

test('a malformed path and a second Host are 400, whatever the path', () => {
  for (const target of ['/%', '/%zz', '/echo/%FF/b', '/%00', '/no/such/%C3']) {
    deepEqual(ask(app, target).body, problem(400, 'Bad Request'), target)
  }
  equal(ask(app, '/?q=%zz').status, 200)
  equal(ask(app, '/', { hosts: 2 }).status, 400)
})

test('OPTIONS and other methods are answered on known paths only', () => {
  deepEqual(ask(app, '/echo/a/b', { method: 'OPTIONS' }), {
    status: 204,
    headers: {},
    body: undefined,
    errors: [],
  })
  equal(ask(app, '/', { method: 'POST' }).body, problem(405, 'Method Not Allowed'))
  equal(ask(app, '/x', { method: 'OPTIONS' }).status, 404)
  equal(ask(app, '/x', { method: 'POST' }).status, 404)
  equal(ask(app, '/', { method: 'HEAD' }).body, 'home')
})

test('a handler that fails is 500, and the cause is for the error log alone', () => {
  const { status, body, errors } = ask(app, '/throw')
  deepEqual([status, body], [500, problem(500, 'Internal Server Error')])
  equal(errors.length, 1)
  match(errors[0] ?? '', /^r-1 failed: the secret cause\n.*base\.test/s)
})

test('a client that has left is no failure, anything else that keeps the answer is', () => {
  deepEqual(ask(app, '/', { failure: new Error('failed to send response') }).errors, [])
  throws(() => ask(app, '/', { failure: new Error('out of memory') }), /out of memory/)
})

test('readiness fails while draining, liveness does not', () => {
  const pass = {
    status: 200,
    headers: { 'content-type': 'application/health+json', 'cache-control': 'no-store' },
  }
  deepEqual(ask(app, '/livez', { draining: true }), { ...pass, body: '{"status":"pass"}', errors: [] })
  deepEqual(ask(app, '/readyz'), { ...pass, body: '{"status":"pass"}', errors: [] })
  deepEqual(ask(app, '/readyz', { draining: true }), {
    ...pass,
    status: 503,
    body: '{"status":"fail"}',
    errors: [],
  })
})
