import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ASSETS } from '#shared/page/server.js'
import { createOptions, INFO, type Start } from '../src/testing/app.ts'
import { SHELL_END, SLOW_PART } from '../src/testing/page.ts'

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
    const told = lines.map(({ level, path, client }) => [level, path, client])
    deepEqual(told, [[INFO, '/stream', '127.0.0.1']])
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
