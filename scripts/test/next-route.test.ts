import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BROWSER, startProgram } from '@startgrid/cli/test-programs.ts'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { type Launch, launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { addReaderRoutes, type Copy, copyApp, EXISTING, ejectApp } from '../next-route.ts'
import { assertAllow, assertFieldError, assertHeaders, assertProblem } from './fixtures/assert-response.ts'
import { tryHotReload, trySecondPage, trySecondWeek } from './fixtures/second-week.ts'

/**
 * Routes that are not ours: the recipes of apps/FRAMEWORK/add-a-route.md, and what people do in the first two weeks (apps/FRAMEWORK/fixtures/).
 * Two apps are tried in each run, one of them ejected.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A test that hangs is stopped. */
const timeout = 60_000

for (const app of APPS)
  describe(
    `${app.name === 'fastify/hello' ? '' : 'full: '}the next route: ${app.name}`,
    {
      timeout: 8 * timeout,
    },
    () => tryReaderRoutes(app, () => copyApp(app)),
  )

// An ejected app inside NGINX is bundled and started by files of its own, which the tests of eject try.
for (const app of APPS.filter(({ runtime }) => runtime !== 'nginx'))
  describe(
    `${app.name === 'express/hello' ? '' : 'full: '}the next route: ejected ${app.name}`,
    {
      timeout: 8 * timeout,
    },
    () => tryReaderRoutes(app, () => ejectApp(app)),
  )

/** A started copy of an app. */
interface Running {
  copy: Copy
  url: string
  launched: Launch
}

async function start(copy: Copy, env: Record<string, string> = {}): Promise<Running> {
  const launched = await launch(copy.app, { env: { ...NEVER_SHED, ...env } })
  return { copy, url: launched.ready.address, launched }
}

function testCommand({ runtime }: App): string[] {
  const bun = `${ROOT}node_modules/.bin/bun`
  return runtime === 'bun'
    ? [bun, 'test', './test/greetings.test.ts']
    : [process.execPath, '--test', 'test/greetings.test.ts']
}

function tryReaderRoutes(app: App, make: () => Copy | Promise<Copy>): void {
  let copy: Copy
  let upstream: Server
  let source = ''
  let running: Running | undefined
  const get = (path: string, init?: RequestInit) =>
    fetch(`${running?.url}${path}`, { redirect: 'manual', ...init })

  before(async () => {
    copy = await make()
    addReaderRoutes(copy, app)
    runInEach(copy, ({ build }) => build)
    upstream = createServer((_request, response) => {
      response.setHeader('content-type', 'text/plain; charset=utf-8').end('from upstream')
    })
    await once(upstream.listen(0, '127.0.0.1'), 'listening')
    const address = upstream.address()
    const port = typeof address === 'object' ? address?.port : undefined
    source = `http://127.0.0.1:${port}/`
    running = await start(copy, { HANDLER_TIMEOUT_MS: '1000', LOG_LEVEL: 'info', TRUST_PROXY: 'loopback' })
  })
  after(async () => {
    await running?.launched.stop()
    upstream?.close()
    copy?.remove()
  })

  /** What an app writes can come after its response. */
  const untilLogged = async (pattern: RegExp, { signal }: TestContext) => {
    while (!pattern.test(running?.launched.output() ?? '')) await sleep(10, undefined, { signal })
  }

  test('the types are right', { timeout: 2 * timeout }, () =>
    runInEach(copy, ({ typecheck = 'tsc' }) => typecheck),
  )

  test('the test of the recipe passes', { timeout: 2 * timeout }, async () => {
    const [file = process.execPath, ...args] = testCommand(app)
    const { code, stdout, stderr } = await startProgram(file, args, { cwd: copy.app.directory }).ended
    assert.equal(code, 0, stdout + stderr)
  })

  tryPost(() => running, EXISTING[app.role])

  for (const path of ['/reader/throws', '/reader/rejects']) {
    test(`${path} is 500 without the cause, which is in the log`, { timeout }, async (t) => {
      const response = await get(path)
      await assertProblem(response, 500)
      await untilLogged(/secret/, t)
    })
  }

  test('a cookie is set, and two are two', async () => {
    const response = await get('/reader/cookie')
    assert.equal(response.status, 200)
    assertHeaders(response)
    const [seen, theme, ...others] = response.headers.getSetCookie()
    assert.match(seen ?? '', /^seen=yes; .*HttpOnly/i)
    // A header of njs's table has one value.
    assert.match(theme ?? '', app.runtime === 'nginx' ? /^$/ : /^theme=dark/)
    assert.deepEqual(others, [])
  })

  test('a redirect keeps its status and its target', async () => {
    const response = await get('/reader/redirect')
    assert.equal(response.status, 303)
    assert.equal(response.headers.get('location'), '/reader/page')
    assertHeaders(response)
  })

  test('a form is read and validated', async () => {
    const post = (body: Record<string, string>) =>
      get('/reader/form', { method: 'POST', body: new URLSearchParams(body) })
    const response = await post({ name: 'Zoë & co' })
    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'Hello, Zoë & co!')
    assertHeaders(response)
    await assertFieldError(await post({ name: '' }), 'name')
  })

  test('a second page has its own policy', async () => {
    const response = await get('/reader/page')
    assert.equal(await response.text(), '<p>A second page</p>')
    assertHeaders(response, { 'content-security-policy': "default-src 'self'" })
  })

  test('a header that a route sets stays', async () => {
    const response = await get('/reader/own-header')
    assert.equal(await response.text(), 'mine')
    assertHeaders(response, { 'referrer-policy': 'origin' })
  })

  test('a resource with a parameter, in a router of its own where there are routers', async (t) => {
    const path = '/reader/teas/1'
    const patch = (name: string) =>
      get(path, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      })
    const response = await get(path)
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { name: 'Keemun' })
    assertHeaders(response, { 'x-teas': 'yes' })
    const renamed = await patch('Sencha')
    assert.equal(renamed.status, 200)
    assert.deepEqual(await renamed.json(), { name: 'Sencha' })
    assertHeaders(renamed)
    await assertFieldError(await patch(''), 'name')
    await assertFieldError(await get('/reader/teas/none'), 'id')
    const { detail } = await assertProblem(await get('/reader/teas/9'), 404)
    assert.equal(detail, 'No such tea.')
    await assertAllow(await get(path, { method: 'DELETE' }), ['GET', 'HEAD', 'PATCH'])
    // Its own header is on no other route.
    const other = await get('/reader/own-header')
    assert.equal(other.headers.get('x-teas'), null)
    await other.arrayBuffer()
    await untilLogged(/"path":"\/reader\/teas\/1","route":"\/reader\/teas\/:id","status":200/, t)
  })

  test('an upload is read as a stream', async () => {
    const response = await get('/reader/upload', {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'x'.repeat(60_000),
    })
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { size: 60_000 })
    assertHeaders(response)
  })

  test('a file is downloaded', async () => {
    const response = await get('/reader/download')
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-disposition') ?? '', /^attachment; filename=/)
    const content = app.runtime === 'nginx' ? 'tea,grams\nAssam,100\n' : copy.read('package.json')
    assert.equal(await response.text(), content)
    assertHeaders(response)
  })

  test('a fetched response is passed on', async () => {
    const response = await get(`/reader/proxy?from=${encodeURIComponent(source)}`)
    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'from upstream')
    assertHeaders(response)
  })

  test('a route that never responds is 503, and is in the log', { timeout }, async (t) => {
    const response = await get('/reader/silent')
    // njs ends a handler for which no event is left.
    const isEnded = app.runtime === 'nginx'
    await assertProblem(response, isEnded ? 500 : 503)
    if (!isEnded) await untilLogged(/was silent for 1000 ms/, t)
  })

  test('the app serves on after all that', async () => {
    assert.equal((await get('/livez')).status, 200)
  })

  test('a client that leaves server-sent events is no failure', { timeout }, async (t) => {
    const failures = () => running?.launched.output().split('"msg":"failed"').length
    const before = failures()
    const leaving = new AbortController()
    const response = await get('/events', { signal: leaving.signal })
    const { value } = (await response.body?.getReader().read()) ?? {}
    assert.match(Buffer.from(value ?? []).toString(), /^data: /m)
    leaving.abort()
    // Bun logs the response when it is handed over.
    await untilLogged(/"path":"\/events"/, t)
    assert.equal(failures(), before)
  })

  if (app.role === 'ssr') {
    test('second page, hydrated', { timeout: 2 * timeout, skip: BROWSER.skip }, () =>
      trySecondPage(running?.url ?? ''),
    )
    if (app.runtime !== 'nginx')
      test('WebSocket beside hot reload', { timeout: 2 * timeout }, () => tryHotReload(copy.app))
  }

  // Last: the app is stopped.
  describe('the second week', () => trySecondWeek(app, () => running?.launched))
}

/** What "add a route" promises of a POST beside an existing GET. */
function tryPost(read: () => Running | undefined, path: string): void {
  const send = (body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(`${read()?.url}${path}`, { method: 'POST', headers, body })

  test('the new route works: status, JSON, headers', async () => {
    const response = await send('{"name":"Zoë"}')
    assert.equal(response.status, 201)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(await response.json(), { hello: 'Zoë' })
    assertHeaders(response)
  })

  test('the old route still works', async () => {
    const response = await fetch(`${read()?.url}${path}`)
    assert.equal(response.status, 200)
    await response.arrayBuffer()
    const head = await fetch(`${read()?.url}${path}`, { method: 'HEAD' })
    assert.equal(head.status, 200)
  })

  test('Allow has the new method', async () => {
    const response = await fetch(`${read()?.url}${path}`, { method: 'DELETE' })
    await assertAllow(response, ['GET', 'HEAD', 'POST'])
  })

  for (const [what, body] of [
    ['cut off', '{"name":'],
    ['empty', ''],
    ['not an object', '"Zoë"'],
  ] as const) {
    test(`JSON that is ${what} is 400`, async () => {
      await assertProblem(await send(body), 400)
    })
  }

  for (const [what, body] of [
    ['missing', '{}'],
    ['empty', '{"name":""}'],
    ['of another type', '{"name":{"a":1}}'],
    ['too long', JSON.stringify({ name: 'x'.repeat(101) })],
  ] as const) {
    test(`a field that is ${what} is 400, and the problem names it`, async () =>
      assertFieldError(await send(body), 'name'))
  }

  test('a body of another type is 400 or 415', async () => {
    const response = await send('name=Zoë', { 'content-type': 'application/x-nobody-knows' })
    // Bun's `request.json()` does not look at the type.
    await assertProblem(response, response.status === 415 ? 415 : 400)
  })

  for (const chunked of [false, true]) {
    test(`a body over the limit is 413${chunked ? ', also in chunks' : ''}`, async () => {
      const bytes = JSON.stringify({ name: 'x'.repeat(70_000) })
      const body = chunked ? new Blob([bytes]).stream() : bytes
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        duplex: 'half',
      } as const
      const response = await fetch(`${read()?.url}${path}`, init)
      // Bun refuses it itself, as a parser may: only the status counts.
      if (response.headers.get('content-type') === null) assert.equal(response.status, 413)
      else await assertProblem(response, 413)
    })
  }
}

/** Runs a script of each package.json of the copy that has it. */
function runInEach(
  { packages }: Copy,
  commandOf: (scripts: Record<string, string>) => string | undefined,
): void {
  const bins = ['node_modules/.bin', 'packages/shared/node_modules/.bin'].map((path) => `${ROOT}${path}`)
  const env = { ...process.env, PATH: [...bins, process.env.PATH].join(':') }
  for (const cwd of packages) {
    const command = commandOf(JSON.parse(readFileSync(`${cwd}/package.json`, 'utf8')).scripts)
    if (command === undefined) continue
    const { status, stdout, stderr } = spawnSync(command, { cwd, encoding: 'utf8', env, shell: true })
    assert.equal(status, 0, stdout + stderr)
  }
}
