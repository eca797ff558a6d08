import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { hc } from 'hono/client'
import { createApp } from '../src/app.ts'
import { type AppType, hello } from '../src/hello.ts'
import { createOptions } from './options.ts'

test('greets in text and in JSON', async () => {
  const app = createApp(createOptions(), hello)
  const text = await app.request('/')
  equal(text.status, 200)
  match(text.headers.get('content-type') ?? '', /^text\/plain; charset=utf-8$/i)
  equal(await text.text(), 'Hello World!')
  const json = await app.request('/json')
  match(json.headers.get('content-type') ?? '', /^application\/json/)
  deepEqual(await json.json(), { hello: 'world' })
})

test('greets by name', async () => {
  const app = createApp(createOptions(), hello)
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
    ['x'.repeat(1000), 'x'.repeat(1000)],
  ] as const) {
    const response = await app.request(`/hello/${name}`)
    equal(response.status, 200)
    match(response.headers.get('content-type') ?? '', /^text\/plain; charset=utf-8$/i)
    equal(await response.text(), `Hello, ${decoded}!`)
  }
  for (const path of ['/hello/', '/hello/a/b']) {
    const { status } = await app.request(path)
    equal([400, 404].includes(status), true, path)
  }
})

test("Hono's RPC client knows the routes and their types", async () => {
  const app = createApp(createOptions(), hello)
  const client = hc<AppType>('http://localhost', { fetch: app.request })
  const { hello: greeted }: { hello: string } = await (await client.json.$get()).json()
  equal(greeted, 'world')
  const response = await client.hello[':name'].$get({ param: { name: 'Zoë' } })
  const text: `Hello, ${string}!` = await response.text()
  equal(text, 'Hello, Zoë!')
})
