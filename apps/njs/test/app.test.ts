import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimPort } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import { renderPage } from '#shared/page/server.js'
import { PROBLEM } from '#shared/problem.ts'
import { createOptions } from '#shared/testing/app.ts'
import { renderConfig } from '../src/render.ts'
import { start } from './start.ts'

const nginx = await findNginx()
const skip =
  nginx.kind === 'none' ? nginx.describe() : nginx.njs === undefined && `${nginx.describe()} has no njs`

describe(`on ${nginx.describe()}`, { skip }, () => {
  test('hello: a line for each response in the log but for probes, exit 0', async () => {
    const app = await start('hello')
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const headers = { 'x-request-id': 'r-1', traceparent }
    const greeting = await fetch(`${app.url}/hello/Zo%C3%AB?token=secret`, { headers })
    equal(await greeting.text(), 'Hello, Zoë!')
    equal((await fetch(`${app.url}/livez`)).status, 200)
    equal((await fetch(`${app.url}/hello/`)).status, 404)
    equal((await fetch(`${app.url}/json`, { method: 'POST' })).status, 404)
    equal(await app.stop(), 0)
    const lines = app.lines.filter(({ msg }) => msg === 'request completed')
    deepEqual(
      lines.map(({ path, route, status }) => [path, route, status]),
      [
        ['/hello/Zo%C3%AB', '/hello/:name', 200],
        ['/hello/', '', 404],
        ['/json', '/json', 404],
      ],
    )
    const { time, ms, requestId, method, client, trace_id } = lines[0] ?? {}
    deepEqual([typeof time, typeof ms], ['number', 'number'])
    deepEqual(
      [requestId, method, client, trace_id],
      ['r-1', 'GET', '127.0.0.1', '4bf92f3577b34da6a3ce929d0e0e4736'],
    )
  })

  test('ssr: the same bytes as on Node, with a nonce for each page', async () => {
    const app = await start('ssr', { LOG_LEVEL: 'warn' })
    let last = ''
    for (const items of [0, 50, 1000]) {
      const response = await fetch(`${app.url}/?items=${items}`, { headers: { 'x-request-id': 'r-1' } })
      const policy = response.headers.get('content-security-policy') ?? ''
      const [, nonce = ''] = /'nonce-([^']{24})'/.exec(policy) ?? []
      notEqual(nonce, last)
      last = nonce
      equal(response.headers.get('cache-control'), 'private, no-store')
      equal(await response.text(), renderPage('shop', { items, requestId: 'r-1', nonce }))
    }
    equal(await app.stop(), 0)
    ok(!app.lines.some(({ msg }) => msg === 'request completed'))
  })

  test('the client behind a trusted proxy is logged', async () => {
    const app = await start('hello', { TRUST_PROXY: 'loopback, 10.0.0.0/8' })
    await fetch(app.url, { headers: { 'x-forwarded-for': '203.0.113.7, 198.51.100.1, 10.1.2.3' } })
    await app.stop()
    const [line] = app.lines.filter(({ msg }) => msg === 'request completed')
    equal(line?.client, '198.51.100.1')
  })

  test('while draining it is alive but not ready, and a second signal ends it', async () => {
    const app = await start('hello', { SHUTDOWN_DELAY_MS: '60000' })
    app.child.kill('SIGTERM')
    while ((await fetch(`${app.url}/readyz`)).status === 200) await sleep(20)
    const unready = await fetch(`${app.url}/readyz`)
    deepEqual([unready.status, await unready.json()], [503, { status: 'fail' }])
    equal((await fetch(`${app.url}/livez`)).status, 200)
    app.child.kill('SIGTERM')
    equal((await app.ended).code, 1)
  })

  describe('routes of a test', () => {
    const ROUTES = `
      js_import routes.js;
      location = /throws { js_content routes.throws; }
      location = /rejects { js_content routes.rejects; }
      location = /client { js_content routes.client; }`
    const SCRIPT = `export default {
      throws() { throw new Error('secret') },
      async rejects() { throw new Error('secret') },
      client(r) { r.return(200, [r.remoteAddress, r.variables.client_scheme, r.variables.client_host].join()) },
    }`
    let instance: Awaited<ReturnType<typeof startNginx>>
    let directory: string
    let url: string

    before(async () => {
      if (nginx.kind === 'none') return
      directory = await mkdtemp(join(tmpdir(), 'startgrid-njs-'))
      await writeFile(join(directory, 'routes.conf'), ROUTES)
      await writeFile(join(directory, 'routes.js'), SCRIPT)
      const address = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
      const config = { ...createOptions().config, PORT: address.port, LOG_LEVEL: 'warn' } as const
      const files = { routes: join(directory, 'routes.conf'), modules: directory }
      process.env.TRUST_PROXY = 'loopback'
      instance = await startNginx(nginx, {
        config: (main) => renderConfig({ nginx, config, ...files }, main),
        listen: [address],
      })
      url = `http://127.0.0.1:${address.port}`
    })

    after(async () => {
      await instance.stop()
      await rm(directory, { recursive: true })
    })

    test('a handler that fails is 500, and only the error log has the cause', async () => {
      for (const path of ['/throws', '/rejects']) {
        const response = await fetch(url + path)
        deepEqual([response.status, response.headers.get('content-type')], [500, PROBLEM])
        deepEqual(await response.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
      }
      match(instance.errors(), /secret.*GET \/throws /s)
    })

    test('a route knows what the client sent to the proxy', async () => {
      const headers = {
        'x-forwarded-for': '192.0.2.1, 203.0.113.7',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'shop.example',
      }
      const told = await (await fetch(`${url}/client`, { headers })).text()
      equal(told, '203.0.113.7,https,shop.example')
      equal(await (await fetch(`${url}/client`)).text(), `127.0.0.1,http,${new URL(url).host}`)
    })
  })
})

test('what cannot start says why in one sentence', async () => {
  for (const [role, env, expected] of [
    ['hello', { PORT: 'x' }, /^PORT is not valid: .*\.\n$/],
    ['nothing', {}, /^There is no app 'nothing' here, only hello, ssr and status\.\n$/],
    ['hello', { STARTGRID_NGINX: '/no/nginx' }, /^[^\n]+\/no\/nginx is not a program[^\n]+\n$/],
  ] as const) {
    const { code, errors } = await (await start(role, env)).ended
    match(errors, expected)
    equal(code, 1)
  }
})
