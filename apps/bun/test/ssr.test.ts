import { expect, mock, test } from 'bun:test'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { basename } from 'node:path'
import * as timers from 'node:timers/promises'
import { HTML, PRIVATE, PROBLEM_JSON } from '#shared/http/contract.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { ASSETS, ASSETS_DIR } from '#shared/page/server.js'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { createOptions, INFO } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

function createSsr(options: AppOptions) {
  const { log, config } = options
  return createApp(options, ssr({ config, log }))
}

/** The end of the shell, and the start of what React sends when the slow part is there. */
const SHELL_END = '</footer>'
const SLOW_PART = 'id="S:0"'

const countItems = (html: string) => html.split('class="price"').length - 1

const findNonce = (html: string) => /<script[^>]* nonce="([^"]*)"/.exec(html)?.[1] ?? ''

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

test('shows as many items as asked for', async () => {
  await using server = await serve(createSsr(createOptions()))
  for (const [path, items] of [
    ['/', 50],
    ['/?items=0', 0],
    ['/?items=1000', 1000],
    ['/stream?items=7&delay=0', 7],
  ] as const) {
    const response = await fetch(server.url + path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(HTML)
    expect(countItems(await response.text())).toBe(items)
  }
})

test('refuses a count that is not in range, and names the field', async () => {
  await using server = await serve(createSsr(createOptions()))
  for (const path of [
    '/?items=1001',
    '/?items=-1',
    '/?items=',
    '/?items=1&items=2',
    '/stream?items=1001',
    '/stream?delay=5001',
    '/stream?delay=x',
  ]) {
    const response = await fetch(server.url + path)
    expect(response.status, path).toBe(400)
    expect(response.headers.get('content-type')).toBe(PROBLEM_JSON)
    expect(await response.text()).toMatch(/"errors":\[\{"field":"(?:items|delay)"/)
  }
})

test('allows the scripts of the page by a nonce that no other response has', async () => {
  await using server = await serve(createSsr(createOptions()))
  const nonces = new Set<string>()
  for (const path of ['/', '/', '/stream?delay=1']) {
    const response = await fetch(server.url + path)
    const html = await response.text()
    const nonce = findNonce(html)
    expect(nonce).toMatch(/^[A-Za-z0-9+/]{24}$/)
    expect(response.headers.get('content-security-policy')).toBe(pagePolicy(nonce))
    expect(response.headers.get('cache-control')).toBe(PRIVATE)
    expect(html.replaceAll(`nonce="${nonce}"`, '')).not.toMatch(/ nonce=/)
    nonces.add(nonce)
  }
  expect(nonces.size).toBe(3)
})

test('prints the id of the request in the page', async () => {
  await using server = await serve(createSsr(createOptions()))
  for (const path of ['/', '/stream?delay=1']) {
    const response = await fetch(server.url + path, { headers: { 'x-request-id': 'r-1' } })
    expect(await response.text()).toMatch(/<code>r-1<\/code>/)
  }
})

test('streams the shell, then the slow part', async () => {
  await using server = await serve(createSsr(createOptions()))
  const html = await (await fetch(`${server.url}/stream?delay=1`)).text()
  expect(html.indexOf(SHELL_END) < html.indexOf(SLOW_PART)).toBeTrue()
  expect(html).toMatch(/<\/html>$/)
})

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
  expect(response.headers.get('content-type')).toBe(HTML)
  expect(await response.text()).toBe('')
  const lines = await readLines(1)
  expect(lines.map(({ level, method }) => [level, method])).toEqual([[INFO, 'HEAD']])
})

test('serves the files of the page, compressed if the client accepts that', async () => {
  await using server = await serve(createSsr(createOptions()))
  for (const url of ASSETS) {
    const { size } = statSync(new URL(`${basename(url)}.br`, ASSETS_DIR))
    const response = await fetch(server.url + url, { headers: { 'accept-encoding': 'gzip, br' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-encoding')).toBe('br')
    expect(response.headers.get('content-length')).toBe(String(size))
    expect(String(response.headers.get('cache-control'))).toMatch(/max-age=31536000, ?immutable/)
  }
  for (const path of ['/assets/no-such-file.js', '/assets/..%2Fpage%2Fserver.js']) {
    const response = await fetch(server.url + path)
    expect(String(response.status), path).toMatch(/^40[34]$/)
    expect(String(response.headers.get('content-type'))).toMatch(/^application\/problem\+json/)
  }
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
