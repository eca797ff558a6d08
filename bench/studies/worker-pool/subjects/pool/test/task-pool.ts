import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Health } from '@startgrid/shared/http/health.ts'
import { pagePolicy } from '@startgrid/shared/http/security-headers.ts'
import { readConfig } from '@startgrid/shared/process/config.ts'
import type { AppOptions } from '@startgrid/shared/process/lifecycle.ts'
import { pino } from 'pino'
import { POOL_LIBRARIES, readPoolConfig } from '../src/config.ts'
import { TaskTimeout } from '../src/refusal.ts'
import { createTaskPool, type TaskPool } from '../src/task-pool.ts'

/** The tests of an app with a pool. They are the same for every framework. */

/** Serves the app on a free port. */
export type Serve = (options: AppOptions & { pool: TaskPool }) => Promise<{ url: string } & AsyncDisposable>

/** `test` of Node or of Bun. */
type Test = (name: string, run: () => Promise<void>) => unknown

interface Line {
  level: number
  msg: string
  [field: string]: unknown
}

const INFO = 30
const ERROR = 50

/** Bun writes it without the space. */
const JSON_TYPE = /^application\/json; ?charset=utf-8$/

const FAILING_TASKS = new URL('./failing-tasks.ts', import.meta.url)

/** A server with a pool of its own, both closed at the end of the block. */
export async function servePool(serve: Serve, env: Record<string, string>, tasks?: URL) {
  const { readLines, ...options } = createOptions()
  const pool = createTaskPool(readPoolConfig({ POOL_SIZE: '2', ...env }), tasks)
  const server = await serve({ ...options, pool })
  return {
    pool,
    ask: (path: string) => fetch(server.url + path),
    readLines,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await pool.close()
    },
  }
}

async function readResponse(asked: Promise<Response>) {
  const response = await asked
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const findNonce = (html: string) => /<script[^>]* nonce="([^"]*)"/.exec(html)?.[1] ?? ''

/** Options for an app under test. Its log lines go to an array instead of standard output. */
function createOptions() {
  const lines: Line[] = []
  const written = new EventEmitter()
  const destination = {
    write(text: string) {
      lines.push(JSON.parse(text))
      written.emit('line')
    },
  }
  const options: AppOptions = {
    config: readConfig({ MAX_QUEUE_WAIT_MS: '0' }), // no page is refused because the machine is busy
    health: new Health(),
    log: pino({ level: 'trace' }, destination),
  }

  /** All lines, as soon as there are so many: a response may be here before its line is written. */
  async function readLines(count: number): Promise<Line[]> {
    while (lines.length < count) await once(written, 'line', { signal: AbortSignal.timeout(120_000) })
    return lines
  }

  return { ...options, readLines }
}

/** Registers the tests, for both libraries. */
export function testPool(test: Test, serve: Serve): void {
  for (const library of POOL_LIBRARIES) {
    test(`${library}: a worker gives the same response as the main process`, async () => {
      await using app = await servePool(serve, { POOL: library })
      for (const path of ['/local', '/helloworld']) {
        const response = await app.ask(path)
        match(response.headers.get('content-type') ?? '', JSON_TYPE)
        equal(await response.text(), '{"hello":"world"}')
      }
      const pages = await Promise.all(
        ['/page?items=30', '/pooled-page?items=30'].map(async (path) => {
          const response = await app.ask(path)
          const html = await response.text()
          const nonce = findNonce(html)
          equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
          equal(response.headers.get('content-security-policy'), pagePolicy(nonce))
          const id = response.headers.get('x-request-id') ?? ''
          match(html, new RegExp(`<code>${id}</code>`))
          return html.replaceAll(nonce, 'NONCE').replaceAll(id, 'ID')
        }),
      )
      equal(pages[0], pages[1])
      equal(pages[0]?.split('class="price"').length, 31)
      for (const path of ['/page?items=x', '/pooled-page?items=x']) equal((await app.ask(path)).status, 400)
    })

    test(`${library}: a worker that ends takes only its own task along, and is replaced`, async () => {
      await using app = await servePool(serve, { POOL: library }, FAILING_TASKS)
      const [lost, ...others] = await Promise.all(
        ['/helloworld', '/pooled-page?items=1', '/pooled-page?items=2', '/pooled-page?items=3'].map(app.ask),
      )
      equal(lost?.status, 500)
      match(lost?.headers.get('content-type') ?? '', /^application\/problem\+json/)
      const texts = await Promise.all(others.map((response) => response.text()))
      deepEqual(
        texts.map((text) => text.replace(/ by .*/, '')),
        ['1 items', '2 items', '3 items'],
      )
      // More often than there are workers.
      for (let count = 0; count < 4; count++) equal((await app.ask('/helloworld')).status, 500)
      match(await (await app.ask('/pooled-page?items=4')).text(), /^4 items/)
      const lines = await app.readLines(14)
      equal(lines.filter(({ level }) => level === ERROR).length, 5)
    })

    test(`${library}: a task that throws fails alone, and its worker lives on`, async () => {
      await using app = await servePool(serve, { POOL: library, POOL_SIZE: '1' }, FAILING_TASKS)
      const before = await (await app.ask('/pooled-page?items=1')).text()
      const { status, text } = await readResponse(app.ask('/pooled-page?items=13'))
      equal(status, 500)
      equal(text, '{"type":"about:blank","title":"Internal Server Error","status":500}')
      equal(await (await app.ask('/pooled-page?items=1')).text(), before)
      const [, failed] = await app.readLines(3)
      match(JSON.stringify(failed?.err), /no page 13/)
    })

    test(`${library}: a task that runs for too long is given up, and its worker replaced`, async () => {
      await using app = await servePool(
        serve,
        { POOL: library, POOL_SIZE: '1', POOL_TIMEOUT_MS: '1000' },
        FAILING_TASKS,
      )
      const late = app.ask('/pooled-page?items=0')
      await sleep(100)
      const next = app.ask('/pooled-page?items=1')
      const { status, headers, text } = await readResponse(late)
      equal(status, 503)
      equal(headers.get('retry-after'), '1')
      equal(text, '{"type":"about:blank","title":"Service Unavailable","status":503}')
      // It waits for the worker and for its replacement; only what runs is timed.
      match((await readResponse(next)).text, /^1 items/)
      const [failed] = await app.readLines(3)
      equal(failed?.level, ERROR)
      match(JSON.stringify(failed?.err), /the task 'page' ran for over 1000 ms/)
    })

    test(`${library}: beyond the limit of the queue requests are refused at once, and others served`, async () => {
      await using app = await servePool(
        serve,
        { POOL: library, POOL_SIZE: '1', POOL_QUEUE: '2', POOL_TIMEOUT_MS: '1500' },
        FAILING_TASKS,
      )
      await app.pool.run('page', { items: 1, requestId: '', nonce: '' }) // the worker has started
      const hanging = rejects(app.pool.run('page', { items: 0, requestId: '', nonce: '' }), TaskTimeout)
      const asked = Array.from({ length: 5 }, () => app.ask('/pooled-page?items=1'))
      const refused = await Promise.race(asked)
      equal(refused.status, 503)
      equal(refused.headers.get('retry-after'), '1')
      equal((await app.ask('/local')).status, 200)
      const [line] = await app.readLines(1)
      deepEqual([line?.level, line?.status], [INFO, 503]) // no failure of ours
      const statuses = (await Promise.all(asked)).map(({ status }) => status)
      deepEqual(statuses.sort(), [200, 200, 503, 503, 503])
      await hanging
    })
  }
}
