import { deepEqual, equal, match } from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { PROBLEM } from '#shared/problem.ts'
import { createOptions, ERROR, INFO, serve } from '#shared/testing/app.ts'
import { testOnNode } from '../../../packages/shared/test/app.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

testOnNode(createFailingApp, async () => {}, ssr, ['/late/amid', 'data', /secret/])

test('the status of a dependency is not that of the route, and one of the route stays, also while something traces requests', async (t) => {
  const trace = () => {} // as telemetry.ts and Sentry do
  subscribe('tracing:fastify.request.handler:start', trace)
  t.after(() => unsubscribe('tracing:fastify.request.handler:start', trace))
  const app = createApp(createOptions(), async (scope) => {
    const fail = (error: object) => {
      throw Object.assign(new Error('secret'), error)
    }
    scope.get('/axios', async () => fail({ status: 401 }))
    scope.get('/sync', () => fail({ statusCode: 404 }))
    scope.get('/chosen', (_request, reply) => fail({ status: 401, cause: reply.code(409) }))
    scope.get('/sent', (_request, reply) => reply.code(409).send(new Error('secret')))
    scope.get('/frozen', (_request, reply) => {
      reply.code(409)
      throw Object.freeze(new Error('secret'))
    })
  })
  for (const [path, status, detail] of [
    ['/axios', 500, undefined],
    ['/sync', 500, undefined],
    ['/chosen', 409, 'secret'],
    ['/sent', 409, 'secret'],
    ['/frozen', 409, 'secret'],
  ] as const) {
    const response = await app.inject(path)
    deepEqual([response.statusCode, response.json().status, response.json().detail], [status, status, detail])
  }
})

test('a form that is cut because its client is silent is no failure', async () => {
  const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
  const app = createApp(options, async (scope) => {
    scope.get('/', async (_request, reply) => {
      await once(reply.raw, 'close')
      return reply.badRequest('The form is not complete.')
    })
  })
  await app.ready()
  await using served = await serve(app.server)
  equal((await fetch(served.url)).status, 503)
  await (await fetch(`${served.url}/nowhere`)).text() // by now, a failure would have its line
  const levels = (await readLines(2)).map(({ level }) => level)
  deepEqual(levels, [INFO, INFO])
})

test('@fastify/rate-limit and @fastify/basic-auth may throw a plain error after its header', async () => {
  const app = createApp(createOptions(), async (scope) => {
    for (const [header, statusCode] of [
      ['retry-after', 429],
      ['www-authenticate', 401],
    ] as const)
      scope.get(`/${statusCode}`, async (_request, reply) => {
        reply.header(header, '60')
        throw Object.assign(new Error('Wait.'), { statusCode })
      })
  })
  for (const status of [429, 401]) {
    const { statusCode, ...response } = await app.inject(`/${status}`)
    deepEqual([statusCode, response.json().detail], [status, 'Wait.'])
  }
})

for (const [path, count] of [
  ['/', 1],
  ['/throws', 2],
  ['/nowhere', 1],
  ['/stream', 1],
  ['/told', 1],
] as const)
  test(`a hook onSend that fails for GET ${path}: 500 without the cause, which is logged once`, async () => {
    const { readLines, ...options } = createOptions()
    const app = createApp(options, async (scope) => {
      scope.addHook('onSend', async (_request, reply) => {
        reply.header('access-control-allow-origin', '*')
        throw new Error('secret')
      })
      scope.get('/nowhere', (_request, reply) => reply.notFound())
      scope.get('/', async () => 'sent')
      scope.get('/told', async (_request, reply) => reply.code(404).send('none'))
      scope.get('/stream', async () => Readable.from(['sent']))
      scope.get('/throws', () => Promise.reject(new Error('secret')))
    })
    const { statusCode, headers, ...response } = await app.inject(path)
    deepEqual([statusCode, headers['content-type']], [500, PROBLEM])
    deepEqual([headers['x-content-type-options'], headers['access-control-allow-origin']], ['nosniff', '*'])
    deepEqual(response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
    const failed = (await readLines(1 + count)).filter(({ level }) => level === ERROR)
    equal(failed.length, count)
    match(JSON.stringify(failed), /secret/)
  })

test('an empty body of JSON is none', async () => {
  const app = createApp(createOptions(), async (scope) => void scope.post('/', async () => 'done'))
  const headers = { 'content-type': 'application/json' }
  equal((await app.inject({ method: 'POST', url: '/', headers, payload: '' })).statusCode, 200)
})

test('an integer that JSON.parse alters is not valid, wherever a schema has one', async () => {
  const app = createApp(createOptions(), async (scope) => {
    scope.addSchema({ $id: 'tea', type: 'object', properties: { grams: { type: ['integer', 'null'] } } })
    scope.post('/', { schema: { body: { type: 'array', items: { $ref: 'tea#' } } } }, async () => 'taken')
  })
  for (const [grams, status] of Object.entries({ 9007199254740991: 200, 9007199254740993: 400, null: 200 })) {
    const headers = { 'content-type': 'application/json' }
    const payload = `[{"grams":${grams}}]`
    equal((await app.inject({ method: 'POST', url: '/', headers, payload })).statusCode, status, grams)
  }
})

test('the hooks onClose run after the last response, newest first', async () => {
  const options = createOptions()
  const steps: string[] = []
  const closing = Promise.withResolvers<void>()
  const app = createApp(options, async (scope) => {
    scope.addHook('preClose', async () => closing.resolve())
    scope.addHook('onClose', async () => void steps.push('database'))
    scope.addHook('onClose', async () => void steps.push('queue'))
    scope.get('/slow', async () => {
      options.lifecycle.drain()
      void app.close()
      await closing.promise
      for (let turn = 0; turn < 10; turn++) await setImmediate() // a hook that does not wait would run now
      steps.push('response')
      return ''
    })
  })
  equal((await fetch(`${await app.listen({ host: '127.0.0.1', port: 0 })}/slow`)).status, 200)
  await app.close()
  deepEqual(steps, ['response', 'queue', 'database'])
})
