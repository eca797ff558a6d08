import { expect, test } from 'bun:test'
import { PROBLEM_JSON } from '#shared/http/problem.ts'
import { createOptions } from '#shared/testing-before/options.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'
import { serve } from './serve.ts'

test('says that it is well', async () => {
  await using server = await serve(createApp(createOptions(), status()))
  const response = await fetch(`${server.url}/_/status`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type') ?? '').toMatch(/^text\/plain; ?charset=utf-8$/)
  expect(await response.text()).toBe('OK')
})

test('has nothing else', async () => {
  await using server = await serve(createApp(createOptions(), status()))
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await fetch(server.url + path)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe(PROBLEM_JSON)
  }
})
