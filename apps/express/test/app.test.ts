import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import express, { Router } from 'express'
import request from 'supertest'
import { PROBLEM } from '#shared/problem.ts'
import { createOptions } from '#shared/testing/app.ts'
import { testOnNode } from '../../../packages/shared/test/app.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { shedLoad } from '../src/middleware/load-shedding.ts'
import { ssr } from '../src/ssr.ts'

testOnNode(createFailingApp, Router(), ssr, ['/late/amid', 'data', /secret/])

test('an escape that does not decode is 400 in a path of Express, and a failure in a handler', async () => {
  const routes = Router().get('/users/:user', ({ params: { user } }, response) => {
    response.send(decodeURIComponent(user))
  })
  const app = createApp(createOptions(), routes)
  await request(app).get('/users/%ff').expect(400)
  await request(app).get('/users/%25ff').expect(500)
})

test('a sub-app that a router mounts fails as any route does', async () => {
  const { readLines, ...options } = createOptions()
  const shop = express().get('/', () => Promise.reject(new Error('secret')))
  const app = createApp(options, Router().use('/shop', shop))
  const { type } = await request(app).get('/shop').set('x-request-id', 'r-1').expect(500)
  equal(type, PROBLEM)
  equal((await readLines(1))[0]?.requestId, 'r-1')
})

test('a mounted sub-app has the log of the request, its settings, and load shedding', async () => {
  const { readLines, ...options } = createOptions()
  const shop = express().get('/', shedLoad, (request, response) => {
    request.log.info(response.locals.config.HOST)
    response.send('shop')
  })
  const app = createApp(options, Router().use('/shop', shop))
  await request(app).get('/shop').set('x-request-id', 'r-1').expect(200)
  const [line] = await readLines(1)
  deepEqual([line?.requestId, line?.msg], ['r-1', '127.0.0.1'])
})

test('the route in the log is as it was registered, without the values of its mount', async () => {
  const mounts = Router().use(
    '/users/:user',
    Router().get('/items/:item', (_request, response) => response.sendStatus(204)),
  )
  const { readLines, ...options } = createOptions()
  await request(createApp(options, mounts)).get('/users/1/items/a').expect(204)
  const [line] = await readLines(1)
  deepEqual([line?.path, line?.route], ['/users/1/items/a', '/items/:item'])
})
