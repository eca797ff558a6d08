import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ASSETS } from '#shared/page/server.js'
import { PROBLEM } from '../problem.ts'
import { createOptions, INFO, type Start } from './app.ts'

/** The end of the shell, and the start of what React sends when the slow part is there. */
const SHELL_END = '</footer>'
const SLOW_PART = 'id="S:0"'

const countItems = (html: string) => html.split('class="price"').length - 1

/** The page of every framework. */
export function testPage(start: Start): void {
  test('shows as many items as asked for; a count that is not in range is 400', async () => {
    await using app = await start(createOptions())
    const ask = async (path: string) => {
      const response = await fetch(app.url + path)
      const [type] = response.headers.get('content-type')?.toLowerCase().split(';') ?? []
      return { outcome: [response.status, type], body: await response.text() }
    }
    for (const [path, items] of [
      ['/', 50],
      ['/?items=1000', 1000],
      ['/stream?items=7&delay=0', 7],
    ] as const) {
      const { outcome, body } = await ask(path)
      deepEqual([...outcome, countItems(body)], [200, 'text/html', items])
    }
    for (const path of ['/?items=1001', '/?items=', '/?items=1&items=2', '/stream?delay=5001']) {
      const { outcome, body } = await ask(path)
      deepEqual(outcome, [400, PROBLEM], path)
      match(body, /items|delay/)
    }
    const { body } = await ask('/stream?delay=1')
    ok(body.indexOf(SHELL_END) < body.indexOf(SLOW_PART))
    match(body, /<\/html>$/)
  })
}

/** Timers that keep the process alive, as those of a page in the making do. */
const countTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** The page on Node, which tells what timers run. */
export function testPageUnderLoad(start: Start): void {
  testPageQueue(start)

  test('stops rendering when the client leaves before the slow part', async () => {
    const { readLines, ...options } = createOptions()
    await using app = await start(options)
    const leaving = new AbortController()
    const { body } = await fetch(`${app.url}/stream?delay=5000`, { signal: leaving.signal })
    let received = ''
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += chunk
      if (received.includes(SHELL_END)) break
    }
    equal(received.includes(SLOW_PART), false)
    const timers = countTimers()
    leaving.abort()
    const lines = await readLines(1)
    await setImmediate() // the abort is under way
    ok(countTimers() < timers)
    deepEqual(
      lines.map(({ level, path, client }) => [level, path, client]),
      [[INFO, '/stream', '127.0.0.1']],
    )
  })
}

export function testPageQueue(start: Start): void {
  test('refuses a page that has waited too long, which is no failure, and no file', async () => {
    const { readLines, ...options } = createOptions({ MAX_QUEUE_WAIT_MS: '1' })
    await using app = await start(options)
    const ask = (path: string) => Promise.all(Array.from({ length: 20 }, () => fetch(app.url + path)))
    // Connections that are open already bring all requests at once; new ones are accepted one by one.
    await Promise.all((await ask('/livez')).map((response) => response.text()))
    const pages = await ask('/?items=1000')
    ok(pages.some(({ status }) => status === 200))
    const refused = pages.find(({ status }) => status === 503)
    equal(refused?.headers.get('retry-after'), '1')
    match((await refused?.text()) ?? '', /"status":503/)
    equal((await fetch(`${app.url}${ASSETS[0]}`)).status, 200)
    const lines = await readLines(21)
    equal(lines.find(({ level }) => level !== INFO)?.msg, undefined)
  })
}
