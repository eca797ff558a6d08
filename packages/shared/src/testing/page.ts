import { deepEqual, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { PROBLEM } from '../problem.ts'
import { createOptions, type Start } from './app.ts'

/** The end of the shell, and the start of what React sends when the slow part is there. */
export const SHELL_END = '</footer>'
export const SLOW_PART = 'id="S:0"'

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
