import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import request from 'supertest'
import { HTML } from '#shared/http/contract.ts'
import { serve } from '#shared/http/testing.ts'
import { ASSETS } from '#shared/page/server.js'
import { createOptions, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

/** The end of the shell, and the start of what React sends when the slow part is there. */
const SHELL_END = '</footer>'
const SLOW_PART = 'id="S:0"'

const countItems = (html: string) => html.split('class="price"').length - 1

/** Timers that keep the process alive, as those of a page in the making do. */
const countTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('shows as many items as asked for', async () => {
  const app = createApp(createOptions(), ssr)
  for (const [path, items] of [
    ['/', 50],
    ['/?items=0', 0],
    ['/?items=1000', 1000],
    ['/stream?items=7&delay=0', 7],
  ] as const) {
    const { text } = await request(app).get(path).expect(200).expect('content-type', HTML)
    equal(countItems(text), items)
  }
})

test('refuses a count that is not in range', async () => {
  const app = createApp(createOptions(), ssr)
  for (const path of [
    '/?items=1001',
    '/?items=-1',
    '/?items=',
    '/?items=1&items=2',
    '/stream?items=1001',
    '/stream?delay=5001',
    '/stream?delay=x',
  ]) {
    await request(app)
      .get(path)
      .expect(400)
      .expect('content-type', /^application\/problem\+json/)
  }
})

test('stops rendering when the client leaves before the slow part', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(createApp(options, ssr), options)
  const timers = countTimers()
  const leaving = new AbortController()
  const { body } = await fetch(`${server.url}/stream?delay=5000`, { signal: leaving.signal })
  let received = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += chunk
    if (received.includes(SHELL_END)) break
  }
  equal(received.includes(SLOW_PART), false)
  notEqual(countTimers(), timers)
  leaving.abort()
  const lines = await readLines(1)
  await setImmediate() // the abort is under way
  equal(countTimers(), timers)
  deepEqual(
    lines.map(({ level, path, client }) => [level, path, client]),
    [[INFO, '/stream', '127.0.0.1']],
  )
})

test('refuses a page that has waited too long, and no file', async () => {
  const options = createOptions({ MAX_QUEUE_WAIT_MS: '1' })
  await using server = await serve(createApp(options, ssr), options)
  const ask = (path: string) =>
    Promise.all(
      Array.from({ length: 10 }, () => fetch(server.url + path, { signal: AbortSignal.timeout(120_000) })),
    )
  // Connections that are open already bring all requests at once; new ones are accepted one by one.
  await Promise.all((await ask('/livez')).map((response) => response.text()))
  const pages = await ask('/?items=1000')
  ok(pages.some(({ status }) => status === 200))
  const refused = pages.find(({ status }) => status === 503)
  equal(refused?.headers.get('retry-after'), '1')
  match((await refused?.text()) ?? '', /"status":503/)
  equal((await fetch(`${server.url}${ASSETS[0]}`)).status, 200)
})
