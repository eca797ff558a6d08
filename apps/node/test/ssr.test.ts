import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict'
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { HTML, PROBLEM_JSON } from '#shared/http/contract.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { ASSETS, ASSETS_DIR } from '#shared/page/server.js'
import { createOptions, INFO } from '#shared/process/testing.ts'
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

/** The end of the shell, and the start of what React sends when the slow part is there. */
const SHELL_END = '</footer>'
const SLOW_PART = 'id="S:0"'

const countItems = (html: string) => html.split('class="price"').length - 1

const findNonce = (html: string) => /<script[^>]* nonce="([^"]*)"/.exec(html)?.[1] ?? ''

/** Timers that keep the process alive, as those of a page in the making do. */
const countTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('shows as many items as asked for', async () => {
  await using server = await serve(ssr)
  for (const [path, items] of [
    ['/', 50],
    ['/?items=0', 0],
    ['/?items=1000', 1000],
    ['/stream?items=7&delay=0', 7],
  ] as const) {
    const response = await fetch(server.url + path)
    equal(response.status, 200)
    equal(response.headers.get('content-type'), HTML)
    equal(countItems(await response.text()), items)
  }
})

test('a count that is not in range is 400, and the problem names it', async () => {
  await using server = await serve(ssr)
  for (const path of [
    '/?items=1001',
    '/?items=-1',
    '/?items=',
    '/?items=1e3',
    '/?items=1&items=2',
    '/stream?items=1001',
    '/stream?delay=5001',
    '/stream?delay=x',
  ]) {
    const response = await fetch(server.url + path)
    equal(response.status, 400, path)
    equal(response.headers.get('content-type'), PROBLEM_JSON)
  }
})

test('allows the scripts of the page by a nonce that no other response has', async () => {
  await using server = await serve(ssr)
  const nonces = new Set<string>()
  for (const path of ['/', '/', '/stream?delay=1']) {
    const response = await fetch(server.url + path)
    const html = await response.text()
    const nonce = findNonce(html)
    match(nonce, /^[A-Za-z0-9+/]{24}$/)
    equal(response.headers.get('content-security-policy'), pagePolicy(nonce))
    equal(response.headers.get('cache-control'), 'private, no-store')
    doesNotMatch(html.replaceAll(`nonce="${nonce}"`, ''), / nonce=/)
    nonces.add(nonce)
  }
  equal(nonces.size, 3)
})

test('prints the id of the request in the page', async () => {
  await using server = await serve(ssr)
  for (const path of ['/', '/stream?delay=1']) {
    const response = await fetch(server.url + path, { headers: { 'x-request-id': 'r-1' } })
    match(await response.text(), /<code>r-1<\/code>/)
  }
})

test('streams the shell, then the slow part', async () => {
  await using server = await serve(ssr)
  const html = await (await fetch(`${server.url}/stream?delay=1`)).text()
  ok(html.indexOf(SHELL_END) < html.indexOf(SLOW_PART))
  match(html, /<\/html>$/)
})

test('stops rendering when the client leaves before the slow part', async () => {
  const { readLines, ...options } = createOptions()
  await using server = await serve(ssr, options)
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

test('HEAD to a stream has its headers and no body', async () => {
  await using server = await serve(ssr)
  const response = await fetch(`${server.url}/stream?delay=1`, { method: 'HEAD' })
  equal(response.status, 200)
  equal(response.headers.get('content-type'), HTML)
  equal(await response.text(), '')
})

test('serves the files of the page, compressed if the client accepts that', async () => {
  await using server = await serve(ssr)
  for (const url of ASSETS) {
    const { size } = statSync(new URL(`${basename(url)}.br`, ASSETS_DIR))
    const response = await fetch(server.url + url, { headers: { 'accept-encoding': 'gzip, br' } })
    equal(response.status, 200)
    equal(response.headers.get('content-encoding'), 'br')
    equal(response.headers.get('content-length'), String(size))
    match(String(response.headers.get('cache-control')), /max-age=31536000, ?immutable/)
  }
  for (const path of ['/assets/no-such-file.js', '/assets/..%2Fpage%2Fserver.js']) {
    const response = await fetch(server.url + path)
    match(String(response.status), /^40[34]$/, path)
    match(String(response.headers.get('content-type')), /^application\/problem\+json/)
  }
})

test('refuses a page that has waited too long, and files are still served', async () => {
  await using server = await serve(ssr, createOptions({ MAX_QUEUE_WAIT_MS: '1' }))
  const send = (path: string) =>
    Promise.all(
      Array.from({ length: 10 }, () => fetch(server.url + path, { signal: AbortSignal.timeout(120_000) })),
    )
  // Connections that are open already bring all requests at once; new ones are accepted one by one.
  await Promise.all((await send('/livez')).map((response) => response.text()))
  const pages = await send('/?items=1000')
  ok(pages.some(({ status }) => status === 200))
  const refused = pages.find(({ status }) => status === 503)
  equal(refused?.headers.get('retry-after'), '1')
  match((await refused?.text()) ?? '', /"status":503/)
  equal((await fetch(`${server.url}${ASSETS[0]}`)).status, 200)
})
