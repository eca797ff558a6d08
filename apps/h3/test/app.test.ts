import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { H3, readValidatedBody } from 'h3'
import { z } from 'zod'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { testApp, testBrokenBodies } from '#shared/testing-before/app.ts'
import { createOptions } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'

const start = (options: AppOptions) => serve(createFailingApp(options, new H3()), options)
testApp(start)
testBrokenBodies(start)

/** A tea, or a problem. */
type Sent = { name?: string; status?: number; detail?: string; errors?: { field: string }[] }

const Tea = z.object({ name: z.string().min(1), grams: z.int().min(1) })
const post = (body: string | ReadableStream): RequestInit => ({ method: 'POST', body, duplex: 'half' })

test('a body that is not valid is 400, and the problem names the field', async () => {
  const app = createApp(
    createOptions(),
    new H3().post('/teas', (event) => readValidatedBody(event, Tea)),
  )
  const send = async (body: string) => (await (await app.request('/teas', post(body))).json()) as Sent
  deepEqual(await send('{"name":"Assam","grams":1}'), { name: 'Assam', grams: 1 })
  const { status, errors } = await send('{"name":"Assam","grams":0}')
  deepEqual([status, errors?.[0]?.field], [400, 'grams'])
  equal((await send('{')).detail, 'Invalid JSON body')
})

test('a body over the limit is 413, and the meta of a route has its own limit', async () => {
  const read = async ({ req }: { req: Request }) => (await req.text()).length
  const routes = new H3().post('/usual', read).post('/larger', read, { meta: { bodyLimit: 2 * BODY_LIMIT } })
  const app = createApp(createOptions(), routes)
  for (const [path, limit] of [
    ['/usual', BODY_LIMIT],
    ['/larger', 2 * BODY_LIMIT],
  ] as const) {
    equal(await (await app.request(path, post('x'.repeat(limit)))).json(), limit)
    const refused = await app.request(path, post(new Blob(['x'.repeat(limit + 1)]).stream()))
    deepEqual([refused.status, refused.headers.get('connection')], [413, 'close'])
  }
})
