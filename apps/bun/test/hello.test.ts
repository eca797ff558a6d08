import { expect, test } from 'bun:test'
import { createOptions } from '#shared/testing-before/options.ts'
import { createApp } from '../src/app.ts'
import { hello } from '../src/hello.ts'
import { serve } from './serve.ts'

test('greets in text and in JSON', async () => {
  await using server = await serve(createApp(createOptions(), hello()))
  const text = await fetch(`${server.url}/`)
  expect(text.status).toBe(200)
  expect(text.headers.get('content-type') ?? '').toMatch(/^text\/plain; ?charset=utf-8$/)
  expect(await text.text()).toBe('Hello World!')
  const json = await fetch(`${server.url}/json`)
  expect(json.headers.get('content-type') ?? '').toMatch(/^application\/json/)
  expect(await json.json()).toEqual({ hello: 'world' })
})

test('greets by name', async () => {
  await using server = await serve(createApp(createOptions(), hello()))
  for (const [name, decoded] of [
    ['Ada', 'Ada'],
    ['Zo%C3%AB', 'Zoë'],
    ['a%2Fb', 'a/b'],
    ['1+1', '1+1'],
    ['x'.repeat(1000), 'x'.repeat(1000)],
  ] as const) {
    const response = await fetch(`${server.url}/hello/${name}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type') ?? '').toMatch(/^text\/plain; ?charset=utf-8$/)
    expect(await response.text()).toBe(`Hello, ${decoded}!`)
  }
  for (const path of ['/hello/', '/hello/a/b']) {
    const { status } = await fetch(server.url + path)
    expect([400, 404].includes(status), path).toBe(true)
  }
})

test('HEAD is GET without the body', async () => {
  await using server = await serve(createApp(createOptions(), hello()))
  for (const path of ['/', '/json', '/hello/Ada']) {
    const get = await fetch(server.url + path)
    const head = await fetch(server.url + path, { method: 'HEAD' })
    expect(head.status).toBe(200)
    // Bun leaves out the type of a string: https://github.com/oven-sh/bun/pull/33427
    expect([null, get.headers.get('content-type')]).toContain(head.headers.get('content-type'))
    expect(await head.text()).toBe('')
  }
})
