import { deepEqual, equal } from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { HttpProblem } from '#shared/http/http-problem.ts'
import { PROBLEM_JSON } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { testApp, testBrokenBodies } from '#shared/testing-before/app.ts'
import { createOptions } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { route } from '../src/router.ts'

const start = (options: AppOptions) => serve(createFailingApp(options, []), options)
testApp(start)
testBrokenBodies(start)

test('a body is JSON by its type, and the problem of one that is not valid names the field', async () => {
  const options = createOptions()
  const teas = route('POST', '/teas', async (context) => {
    const { name } = (await context.readJson()) as { name?: unknown }
    if (typeof name !== 'string')
      throw new HttpProblem(400, { errors: [{ field: 'name', reason: 'is missing' }] })
    context.json({ name }, 201)
  })
  await using server = await serve(createApp(options, [teas]), options)
  for (const [body, type, status, fields] of [
    ['{"name":"Assam"}', 'application/json', 201, undefined],
    ['{}', 'application/json', 400, ['name']],
    ['{', 'application/json', 400, undefined],
    ['name=Assam', 'application/x-www-form-urlencoded', 415, undefined],
  ] as const) {
    const init = { method: 'POST', headers: { 'content-type': type }, body }
    const response = await fetch(`${server.url}/teas`, init)
    equal(response.status, status, body)
    const { errors } = (await response.json()) as { errors?: { field: string }[] }
    deepEqual(
      errors?.map(({ field }) => field),
      fields,
    )
  }
})

const OWN = { 'Referrer-Policy': 'origin', 'X-Request-Id': 'other', 'Set-Cookie': ['a=1', 'b=2'] }

const HEADS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  'the first write': (response) => response.setHeaders(new Map(Object.entries(OWN))).write(' '),
  'an object': (response) => response.writeHead(200, OWN),
  'a message and an object': (response) => response.writeHead(200, 'OK', OWN),
  'an array': (response) => response.writeHead(200, Object.entries(OWN).flat()),
  'setHeader and an array': (response) =>
    response
      .setHeader('referrer-policy', 'unsafe-url')
      .writeHead(200, ['Referrer-Policy', 'origin', 'set-cookie', 'a=1', 'set-cookie', 'b=2']),
}

for (const [form, writeHead] of Object.entries(HEADS)) {
  test(`a head by ${form} has every header once, and the id of the request`, async () => {
    const options = createOptions()
    const app = createApp(options, [
      route('GET', '/', ({ response }) => {
        writeHead(response)
        response.end()
      }),
    ])
    await using server = await serve(app, options)
    const { headers } = await fetch(server.url, { headers: { 'x-request-id': 'r-1' } })
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, 'referrer-policy': 'origin' }))
      equal(headers.get(name), value, name) // one that was sent twice would be "a, a"
    equal(headers.get('x-request-id'), 'r-1')
    deepEqual(headers.getSetCookie(), ['a=1', 'b=2'])
  })
}

test('a path without a route is 404, and another method is 405 with the registered ones', async () => {
  const options = createOptions()
  await using server = await serve(
    createApp(options, [
      route('GET', '/teas', ({ text }) => text('')),
      route('POST', '/teas', ({ text }) => text('')),
    ]),
    options,
  )
  for (const [method, path, status, allow] of [
    ['GET', '/nowhere', 404, null],
    ['DELETE', '/teas', 405, 'GET, HEAD, POST'],
  ] as const) {
    const response = await fetch(server.url + path, { method })
    equal(response.status, status, `${method} ${path}`)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
    equal(response.headers.get('allow'), allow)
  }
})
