import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECURITY_HEADERS } from '../../packages/shared/src/http/security-headers.ts'
import { type PageOptions, renderPage, writePage } from '../page/render.ts'
import { CONF } from '../src/render/render.ts'
import { APPS, type FrontPage, startFrontPage } from './support/landing-page.ts'
import { nginx, skip } from './support/nginx.ts'
import { problemText } from './support/problem.ts'
import { type RawResponse, request } from './support/raw.ts'

const POLICY = {
  page:
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  report:
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  none: SECURITY_HEADERS['content-security-policy'],
}

describe('rendering', () => {
  const options: PageOptions = {
    listen: '8080',
    root: '/srv/page',
    results: '/srv/results',
    accessLog: 'off',
    apps: [{ service: 'fastify-ssr', direct: 'fastify-ssr', nginx: '127.0.0.1:4127' }],
  }

  test('a location for each way to an app, with an address or the name of an upstream', () => {
    const text = renderPage(options)
    assert.match(text, /location \/grid\/fastify-ssr\/direct\/ \{ .*proxy_pass http:\/\/fastify-ssr\/; \}/)
    assert.match(
      text,
      /location \/grid\/fastify-ssr\/nginx\/ \{ .*proxy_pass http:\/\/127\.0\.0\.1:4127\/; \}/,
    )
    assert.match(text, /listen 8080;/)
  })

  test('what would not stay one word is refused', () => {
    const refusal = /^Error: The landing page cannot be served with "/
    assert.throws(() => renderPage({ ...options, root: 'page' }), refusal)
    assert.throws(() => renderPage({ ...options, results: '/srv/results; x' }), refusal)
    for (const bad of [{ service: 'a/b' }, { direct: 'a b' }, { nginx: 'x; return 200' }]) {
      const app = { service: 'a', direct: 'a', nginx: 'a', ...bad }
      assert.throws(() => renderPage({ ...options, apps: [app] }), refusal)
    }
  })

  test('the document has a row per framework, a column per role, and no placeholder left', () => {
    const directory = mkdtempSync(join(tmpdir(), 'startgrid-page-'))
    try {
      const [, ...all] = APPS // without fastify/hello: a cell stays empty
      writePage(directory, all)
      const html = readFileSync(join(directory, 'index.html'), 'utf8')
      assert.deepEqual(html.match(/(?<=<th scope="row">)\w+/g), ['fastify', 'koa'])
      assert.deepEqual(html.match(/(?<=<th scope="col" data-role=")\w+/g), ['ssr', 'status', 'hello'])
      assert.equal(html.match(/<td data-service=/g)?.length, 5)
      assert.equal(html.match(/<td><\/td>/g)?.length, 1)
      assert.match(html, /Each of these 5 apps/)
      assert.match(html, /<a href="http:\/\/localhost:4143\/_\/status">/)
      assert.doesNotMatch(html, /\$\{/)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('its security headers are those of packages/shared', () => {
    const conf = readFileSync(join(CONF, 'server', 'page-headers.conf'), 'utf8')
    const { 'content-security-policy': _, ...others } = SECURITY_HEADERS
    for (const [name, value] of Object.entries(others))
      assert.match(conf, new RegExp(`^add_header ${name} +${value} +always;$`, 'm'))
  })
})

describe('page', { skip }, () => {
  let page: FrontPage

  before(async () => {
    if (nginx !== undefined) page = await startFrontPage(nginx)
  })
  beforeEach(() => page.reset())
  after(() => page?.close())

  const ask = (target: string, method = 'GET') => request(page.address, target, { method })

  function assertSecure(response: RawResponse, policy: keyof typeof POLICY): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      assert.equal(response.headers[name], name === 'content-security-policy' ? POLICY[policy] : value)
    assert.match(response.headers['x-request-id'] ?? '', /^[0-9a-f]{32}$/)
    assert.equal(response.headers['cache-control'], 'no-cache')
    assert.equal(response.headers.server, 'nginx')
  }

  test('its files, and no others', async () => {
    for (const [target, type] of [
      ['/', 'text/html; charset=utf-8'],
      ['/page.css', 'text/css; charset=utf-8'],
      ['/page.js', 'text/javascript; charset=utf-8'],
      ['/favicon.svg', 'image/svg+xml'],
      ['/ports.json', 'application/json'],
    ] as const) {
      const response = await ask(target)
      assert.equal(response.status, 200, target)
      assert.equal(response.headers['content-type'], type)
      assertSecure(response, target === '/' ? 'page' : 'none')
    }
    for (const target of ['/index.htm', '/page.ts', '/x', '/grid/', '/grid/x/direct/'])
      assertProblem(await ask(target), 404)
    const redirect = await ask('/grid/fastify-ssr/direct')
    assert.equal(redirect.headers.location, '/grid/fastify-ssr/direct/')
  })

  test('ports have the prefix 4 unless the host name says otherwise', async () => {
    assert.equal((await ask('/ports.json')).body.toString(), '{"prefix":"4"}')
  })

  test('it only reads', async () => {
    for (const target of ['/', '/grid/koa-ssr/direct/', '/results/']) {
      const refused = await ask(target, 'POST')
      assertProblem(refused, 405)
      assert.equal(refused.headers.allow, 'GET, HEAD, OPTIONS')
      assert.equal((await ask(target, 'OPTIONS')).status, 204)
    }
    assert.deepEqual(page.stub('koa-ssr').seen, [])
    assertProblem(await ask('/', 'TRACE'), 405)
  })

  test('an app is asked directly or through its front, and its response passes as it is', async () => {
    const { seen } = page.stub('fastify-hello')
    for (const topology of ['direct', 'nginx']) {
      const response = await ask(`/grid/fastify-hello/${topology}/json?a=b`)
      assert.equal(response.status, 200)
      assert.equal(response.headers['x-app'], 'a stand-in')
      for (const name of [...Object.keys(SECURITY_HEADERS), 'cache-control', 'x-request-id'])
        assert.equal(response.headers[name], undefined, name)
      assert.equal(seen.at(-1)?.url, '/json?a=b')
    }
    const { frontLog } = page
    // NGINX writes the line after the response.
    while (frontLog() === '') await sleep(20)
    assert.equal(frontLog().match(/GET \/json\?a=b /g)?.length, 1)
  })

  test('an absent app is 502 at once, and a state to who asks quietly', async () => {
    await page.stub('koa-ssr').stop()
    for (const topology of ['direct', 'nginx']) {
      assertProblem(await ask(`/grid/koa-ssr/${topology}/readyz`), 502)
      const quiet = await ask(`/grid/koa-ssr/${topology}/readyz?quiet`)
      assert.equal(quiet.status, 200)
      assert.equal(quiet.headers['content-type'], 'application/json')
      assert.equal(quiet.body.toString(), '{"status":"absent"}')
    }
    assert.equal(page.errors(), '')
    assert.equal((await ask('/grid/koa-hello/direct/readyz?quiet')).body.toString(), '{"status":"pass"}')
    page.stub('koa-hello').state = 'fail'
    assert.equal((await ask('/grid/koa-hello/nginx/readyz?quiet')).status, 503)
  })

  test('results: the runs, the files of one, and of those only reports and result', async () => {
    assert.equal((await ask('/results/')).body.toString(), '[]')
    const run = join(page.results, '2026-11-21T09-14-52')
    mkdirSync(run, { recursive: true })
    for (const name of ['report.html', 'report.md', 'result.json', 'notes.txt', '.secret'])
      writeFileSync(join(run, name), name)
    writeFileSync(join(page.results, 'report.html'), 'not of a run')
    symlinkSync('/etc', join(page.results, 'link'))
    assert.ok(namesIn(await ask('/results/')).includes('2026-11-21T09-14-52'))
    assert.ok(namesIn(await ask('/results/2026-11-21T09-14-52/')).includes('report.html'))
    for (const [name, type] of [
      ['report.html', 'text/html; charset=utf-8'],
      ['report.md', 'text/markdown; charset=utf-8'],
      ['result.json', 'application/json'],
    ] as const) {
      const response = await ask(`/results/2026-11-21T09-14-52/${name}`)
      assert.equal(response.body.toString(), name)
      assert.equal(response.headers['content-type'], type)
      assertSecure(response, name === 'report.html' ? 'report' : 'none')
    }
    for (const target of [
      '/results',
      '/results/report.html',
      '/results/2026-11-21T09-14-52',
      '/results/2026-11-21T09-14-52/notes.txt',
      '/results/2026-11-21T09-14-52/.secret',
      '/results/2026-11-21T09-14-52/../../page/index.html',
      '/results/2026-11-21T09-14-52%2F..%2F..%2Fpage/',
      '/results/..%2fpage/',
      '/results/link/hostname',
      '/results/2025/',
    ])
      assert.notEqual((await ask(target)).status, 200, target)
  })

  test('/ceiling, as on every port of this NGINX', async () => {
    assert.equal((await ask('/ceiling')).body.toString(), 'Hello World!')
  })

  function assertProblem(response: RawResponse, status: number): void {
    assert.equal(response.status, status)
    assert.equal(response.headers['content-type'], 'application/problem+json')
    assert.equal(response.body.toString(), problemText(status))
  }
})

function namesIn({ body }: RawResponse): string[] {
  const entries: { name: string }[] = JSON.parse(body.toString())
  return entries.map(({ name }) => name)
}
