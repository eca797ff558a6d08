import { test } from 'node:test'
import request from 'supertest'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'

const app = createApp(createOptions(), hello)

test('greets in text and in JSON', async () => {
  await request(app).get('/').expect(200, 'Hello World!').expect('content-type', 'text/plain; charset=utf-8')
  await request(app)
    .get('/json')
    .expect(200, { hello: 'world' })
    .expect('content-type', /^application\/json/)
})

test('greets by name', async () => {
  await request(app).get('/hello/Zo%C3%AB').expect(200, 'Hello, Zoë!')
  await request(app).get('/hello/').expect(404)
})
