import { deepEqual, equal, match } from 'node:assert/strict'
import type { Server } from 'node:http'
import { test } from 'node:test'
import {
  bodyLimit,
  fromNodeHandler,
  getRequestIP,
  H3,
  HTTPError,
  handleCors,
  readValidatedBody,
  serve as serveH3,
} from 'h3'
import { PROBLEM, type Problem } from '#shared/problem.ts'
import { createOptions, serve } from '#shared/testing/app.ts'
import {
  testForwardedRequests,
  testLoggedRoute,
  testOnNode,
  testRequests,
} from '../../../packages/shared/test/app.ts'
import { createFailingApp, failing } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

testOnNode(createFailingApp, new H3(), ssr)

test('issues of any Standard Schema name their fields, and an error with issues keeps its status', async () => {
  const issues = [{ message: 'no body' }, { message: 'no name', path: [{ key: 'teas' }, 0, { key: 'name' }] }]
  const schema = { '~standard': { version: 1, vendor: 'other', validate: () => ({ issues }) } } as const
  const routes = new H3()
    .post('/400', (event) => readValidatedBody(event, schema))
    .post('/422', (event) => readValidatedBody(event, schema, { onError: () => ({ status: 422, issues }) }))
  for (const status of [400, 422]) {
    const init = { method: 'POST', body: '{}' }
    const unfit = await createApp(createOptions(), routes).request(`/${status}`, init)
    deepEqual([unfit.status, unfit.headers.get('content-type')], [status, PROBLEM])
    const { errors } = (await unfit.json()) as Problem
    deepEqual(errors, [
      { field: '', reason: 'no body' },
      { field: 'teas.0.name', reason: 'no name' },
    ])
  }
})

test('an error has the headers of handleCors() and all of its own', async () => {
  const routes = new H3()
    .use((event) => void handleCors(event, { origin: ['https://shop.example'] }))
    .get('/private', () => {
      const headers = new Headers([
        ['set-cookie', 'a='],
        ['set-cookie', 'b='],
      ])
      throw new HTTPError({ status: 401, headers })
    })
  const app = createApp(createOptions(), routes)
  for (const [path, status, cookies] of [
    ['/nowhere', 404, []],
    ['/private', 401, ['a=', 'b=']],
  ] as const) {
    const refused = await app.request(path, { headers: { origin: 'https://shop.example' } })
    equal(refused.status, status)
    equal(refused.headers.get('access-control-allow-origin'), 'https://shop.example')
    deepEqual(refused.headers.getSetCookie(), cookies)
  }
})

testRequests((options, fetched) => {
  const own = new H3().get('/fetched', fetched).get('/redirect', () => Response.redirect('https://a.example'))
  const app = createApp(options, own.mount('', ssr).mount('', failing))
  const { node } = serveH3(app, { manual: true, gracefulShutdown: false })
  return { request: app.request, server: node?.server as Server }
})

testForwardedRequests((options, request, ip) => {
  const client = new H3().use(bodyLimit(100)).all('/client', async (event) => {
    const { req, url } = event
    return [getRequestIP(event), url.href, req.url, await req.text()]
  })
  return createApp(options, client).fetch(Object.assign(request, { ip }))
})

testLoggedRoute((options) => {
  const items = new H3().get('/items/:item', () => 'item')
  return serve(createFailingApp(options, new H3().mount('/users/:user', items)))
})

test('an error of a handler of Node is logged with its cause, and the client gets what it exposes', async () => {
  const { readLines, ...options } = createOptions()
  const fail = (error: object) => fromNodeHandler(() => Promise.reject(error))
  const routes = new H3()
    .get('/fails', fail(new Error('secret')))
    .get('/exposed', fail(Object.assign(new Error('It is there.'), { status: 409, expose: true })))
  await using app = await serve(createFailingApp(options, routes))
  equal((await fetch(`${app.url}/fails`)).status, 500)
  match(JSON.stringify((await readLines(1))[0]?.err), /secret/)
  equal((await fetch(`${app.url}/exposed`)).status, 409)
})
