import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import Router from '@koa/router'
import request from 'supertest'
import { z } from 'zod'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { testApp, testBrokenBodies } from '#shared/testing-before/app.ts'
import { createOptions, ERROR } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'

const start = (options: AppOptions) => serve(createFailingApp(options, new Router()), options)
testApp(start)
testBrokenBodies(start)

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })

/** Routes that a reader adds. */
const routes = new Router()
  .get('/teas', (ctx) => {
    ctx.body = []
  })
  .post('/teas', (ctx) => {
    ctx.status = 201
    ctx.body = Tea.parse(ctx.request.body)
  })
  .get('/cannot-be-serialised', (ctx) => {
    ctx.body = { secret: 1n }
  })

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(createOptions(), routes).callback()
  await request(app).post('/teas').send({ name: 'Assam', grams: 1 }).expect(201)
  const unfit = await request(app).post('/teas').send({ name: 'Assam', grams: 0 }).expect(400)
  match(unfit.headers['content-type'] ?? '', /^application\/problem\+json/)
  equal(unfit.body.errors[0].field, 'grams')
  const broken = await request(app).post('/teas').type('json').send('{').expect(400)
  match(broken.body.detail, /JSON/)
  const compressed = request(app).post('/teas').type('json').set('content-encoding', 'gzip')
  equal((await compressed.send('no gzip')).status, 400)
  await request(app).post('/teas').expect(400) // no body at all
})

test('a path or method without a route is a problem', async () => {
  const app = createApp(createOptions(), routes).callback()
  for (const [response, status, title, allow] of [
    [await request(app).delete('/teas'), 405, 'Method Not Allowed', 'HEAD, GET, POST'],
    [await request(app).propfind('/teas'), 501, 'Not Implemented', undefined],
    [await request(app).post('/livez'), 405, 'Method Not Allowed', 'HEAD, GET'],
  ] as const) {
    equal(response.headers.allow, allow)
    deepEqual(response.body, { type: 'about:blank', title, status })
  }
})

test('a body that cannot be serialised is a problem with all headers, and is logged', async () => {
  const { readLines, ...options } = createOptions()
  const response = await request(createFailingApp(options, routes)).get('/cannot-be-serialised').expect(500)
  equal(response.headers['x-content-type-options'], 'nosniff')
  match(response.headers['content-type'] ?? '', /^application\/problem\+json/)
  const [failed] = await readLines(2)
  equal(failed?.level, ERROR)
  match(JSON.stringify(failed?.err), /BigInt/)
})
