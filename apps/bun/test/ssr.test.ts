import { expect, test } from 'bun:test'
import type { AppOptions } from '#shared/app-options.ts'
import { createOptions, INFO } from '#shared/testing/app.ts'
import { testPage, testPageQueue } from '#shared/testing/page.ts'
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

const start = (options: AppOptions) => serve(options, ssr)
testPage(start)
testPageQueue(start)

test('nothing has failed if the client leaves, or asks for the headers only', async () => {
  const { readLines, ...options } = createOptions()
  await using app = await serve(options, ssr)
  const leaving = new AbortController()
  const stream = await fetch(`${app.url}/stream?delay=5000`, { signal: leaving.signal })
  await stream.body?.getReader().read()
  leaving.abort()
  const response = await fetch(`${app.url}/stream?delay=1`, { method: 'HEAD' })
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe('')
  await (await fetch(`${app.url}/stream?delay=20`)).text()
  const lines = await readLines(3)
  expect(lines.map(({ level, method }) => [level, method])).toEqual([
    [INFO, 'GET'],
    [INFO, 'HEAD'],
    [INFO, 'GET'],
  ])
})
