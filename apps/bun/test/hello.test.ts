import { expect, test } from 'bun:test'
import { createOptions } from '#shared/testing/app.ts'
import { hello } from '../src/hello.ts'
import { serve } from './serve.ts'

test('greets in text and in JSON', async () => {
  await using app = await serve(createOptions(), hello)
  const text = await fetch(app.url)
  expect([text.status, await text.text()]).toEqual([200, 'Hello World!'])
  expect(text.headers.get('content-type')).toMatch(/^text\/plain; ?charset=utf-8$/)
  const json = await fetch(`${app.url}/json`)
  expect(json.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await json.json()).toEqual({ hello: 'world' })
})

test('greets by name', async () => {
  await using app = await serve(createOptions(), hello)
  expect(await (await fetch(`${app.url}/hello/Zo%C3%AB`)).text()).toBe('Hello, Zoë!')
  expect((await fetch(`${app.url}/hello/`)).status).toBe(404)
})
