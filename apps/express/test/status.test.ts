import { test } from 'node:test'
import request from 'supertest'
import { createOptions } from '#shared/testing/app.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'

test('says OK', async () => {
  const app = createApp(createOptions(), status)
  await request(app).get('/_/status').expect(200, 'OK').expect('content-type', 'text/plain; charset=utf-8')
})
