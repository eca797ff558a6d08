import { expect, mock, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import * as timers from 'node:timers/promises'
import { ASSETS } from '#shared/page/server.js'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { createOptions, INFO } from '#shared/testing-before/options.ts'
import { testPage } from '#shared/testing-before/page.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'
import { serve, start } from './serve.ts'

function createSsr(options: AppOptions) {
  const { log, config } = options
  return createApp(options, ssr({ config, log }))
}

testPage((options) => start(createFailingApp(options, ssr)))

/** The end of the shell, and the start of what React sends when the slow part is there. */
const SHELL_END = '</footer>'
const SLOW_PART = 'id="S:0"'

/** The signals that clear the timers of slow parts. Bun does not tell which timers are running. */
const signals: (AbortSignal | undefined)[] = []
const { setTimeout: wait } = timers
// It holds for the files after this one as well.
mock.module('node:timers/promises', () => ({
  ...timers,
  setTimeout(ms?: number, value?: unknown, options?: { signal?: AbortSignal }) {
    signals.push(options?.signal)
    return wait(ms, value, options)
  },
}))

test('stops rendering when the client leaves before the slow part', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createSsr(options))
  signals.length = 0
  const leaving = new AbortController()
  const { body } = await fetch(`${server.url}/stream?delay=5000`, { signal: leaving.signal })
  let received = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += chunk
    if (received.includes(SHELL_END)) break
  }
  expect(received.includes(SLOW_PART)).toBe(false)
  const [signal] = signals
  expect(signal?.aborted).toBe(false)
  const stopped = once(signal ?? new EventTarget(), 'abort')
  leaving.abort()
  await stopped
  const lines = await readLines(1)
  expect(lines.map(({ level, path, client }) => [level, path, client])).toEqual([
    [INFO, '/stream', '127.0.0.1'],
  ])
})

test('HEAD to a stream has its headers and no body, and nothing has failed', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createSsr(options))
  const response = await fetch(`${server.url}/stream?delay=1`, { method: 'HEAD' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe('')
  const lines = await readLines(1)
  expect(lines.map(({ level, method }) => [level, method])).toEqual([[INFO, 'HEAD']])
})

test('pages that are asked for in one go all get a response, however long the first ones take', async () => {
  await using server = await serve(createSsr(createOptions({ MAX_QUEUE_WAIT_MS: '60000' })))
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('latin1')
  // Over 20 ms of rendering. Bun would close the connection if one of them got no response at once.
  socket.write('GET /?items=1000 HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(12))
  let received = ''
  for await (const text of socket) {
    received += text
    if (received.split('</html>').length > 12) break
  }
  expect(received.match(/HTTP\/1\.1 200 /g)?.length).toBe(12)
})

test('refuses pages while they have waited too long for 100 ms, and no file', async () => {
  await using server = await serve(createSsr(createOptions({ MAX_QUEUE_WAIT_MS: '1' })))
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('latin1')
  // All are there in one turn of the event loop, and each takes some milliseconds.
  const targets = [...Array.from({ length: 100 }, () => '/?items=1000'), ASSETS[0]]
  socket.write(targets.map((target) => `GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`).join(''))
  let statuses: string[] = []
  let received = ''
  for await (const text of socket) {
    received += text
    statuses = received.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []
    if (statuses.length === targets.length) break
  }
  expect([statuses.at(0), statuses.includes('503'), statuses.at(-1)]).toEqual(['200', true, '200'])
  expect(received).toMatch(/HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n[\s\S]*"status":503/i)
})
