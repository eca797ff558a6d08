import { deepEqual, equal, match } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import Router from '@koa/router'
import request from 'supertest'
import { createOptions, serve } from '#shared/testing/app.ts'
import { testOnNode } from '../../../packages/shared/test/app.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

testOnNode(createFailingApp, new Router(), ssr, ['/late/amid', 'data', /secret/])

/** Routes that a reader adds. */
const routes = new Router()
  .post('/teas', (ctx) => {
    ctx.body = ctx.request.body
  })
  .get('/errors/status', (ctx) => {
    ctx.status = 409
    throw new Error('secret')
  })

test('a plain error is a 500 without its message, also after a status of the route', async () => {
  const app = createApp(createOptions(), routes).callback()
  const { body } = await request(app).get('/errors/status').expect(500)
  deepEqual(body, { type: 'about:blank', title: 'Internal Server Error', status: 500 })
})

test('a failure that is emitted without a context, as in the guide of Koa, is logged', async () => {
  const { readLines, ...options } = createOptions()
  createApp(options, routes).emit('error', new Error('secret'))
  equal((await readLines(1))[0]?.msg, 'failed')
})

for (const coding of ['identity', 'gzip'])
  test(`after a chunked body (${coding}) over the limit, the connection takes the next request`, async () => {
    await using app = await serve(createApp(createOptions(), routes).callback())
    const client = connect(Number(new URL(app.url).port), '127.0.0.1').setEncoding('utf8')
    const json = JSON.stringify([randomBytes(1024 * 1024).toString('base64')])
    const body = coding === 'gzip' ? gzipSync(json) : Buffer.from(json)
    client.write('POST /teas HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n')
    client.write(
      `content-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`,
    )
    client.write(body)
    client.write('\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    client.setTimeout(10_000, () => client.destroy())
    let received = ''
    client.on('data', (text) => {
      received += text
    })
    await once(client, 'close')
    match(received, /^HTTP\/1.1 413 [\s\S]*HTTP\/1.1 200 /)
  })
