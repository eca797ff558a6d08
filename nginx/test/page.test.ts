import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { chromium, type Page } from 'playwright-core'
import { type PageApp, renderPage, writePage } from '../page/render.ts'
import { claimPort, formatAddress } from '../src/render/address.ts'
import { renderNginx } from '../src/render/render.ts'
import { ANY, makeDirectory, request, serve, skip, start } from './support.ts'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Two frameworks in two roles: one is ready, one is not, one hangs up, one does not run. */
describe('landing page', { skip }, () => {
  const directory = makeDirectory('startgrid-page-')
  const results = join(directory, 'results')
  const listen = { ...ANY }

  before(async () => {
    const apps = [
      await startApp('koa', 'hello', 4141, '{"status":"pass"}'),
      await startApp('koa', 'ssr', 4142, '{"status":"fail"}'),
      await startApp('bun', 'hello', 4161, ''),
      describeApp('bun', 'ssr', 4162, 1),
    ]
    const root = join(directory, 'page')
    writePage(root, apps)
    listen.port = await claimPort(ANY)
    const page = renderPage({ listen: formatAddress(listen), root, results, accessLog: 'off', apps })
    const config = (main: { dir: string; workers: number }) =>
      renderNginx({ ...main, fronts: [], blocks: [page] })
    await start({ listen: [listen], config })
  })

  async function startApp(framework: string, role: string, port: number, ready: string): Promise<PageApp> {
    const app = await serve(({ url }, response) => {
      response.setHeader('x-app', framework)
      if (ready === '') response.destroy()
      else response.end(url === '/readyz' ? ready : `<b>${url}</b>`)
    })
    return describeApp(framework, role, port, app.address.port)
  }

  function describeApp(framework: string, role: string, direct: number, port: number): PageApp {
    const target = `127.0.0.1:${port}`
    const ports = { direct, nginx: direct + 5 }
    return { framework, role, path: '/json', ports, targets: { direct: target, nginx: target } }
  }

  /** A run of the benchmark with one of its files. */
  function writeRun(name: string, file: string, text = '{}'): string {
    mkdirSync(join(results, name), { recursive: true })
    writeFileSync(join(results, name, file), text)
    return join(results, name)
  }

  test('what it serves, with a policy for each, and nothing else', async () => {
    for (const file of ['report.html', 'result.json', 'secret.txt']) writeRun('run', file)
    const served = async (target: string, method = 'GET') => {
      const { status, headers } = await request(listen, target, { method, host: 'grid.test:8080' })
      const [scripts] = /script-src [^;]+/.exec(headers['content-security-policy'] ?? '') ?? []
      return [status, headers['content-type'], scripts]
    }
    const html = 'text/html; charset=utf-8'
    assert.deepEqual(await served('/'), [200, html, "script-src 'self'"])
    assert.deepEqual(await served('/page.js'), [200, 'text/javascript; charset=utf-8', undefined])
    assert.deepEqual(await served('/results/'), [200, 'application/json', undefined])
    assert.deepEqual(await served('/results/run/report.html'), [200, html, undefined])
    assert.deepEqual((await served('/results/run/result.json'))[0], 200)
    const others = ['/results/run/secret.txt', '/results/../page/', '/render.ts', '/index.html', '/grid/']
    for (const target of others) assert.equal((await served(target))[0], 404, target)
    assert.equal((await served('/grid/koa-hello/direct/json', 'POST'))[0], 404)
  })

  test('links have the host that was asked for and the published ports; what is echoed is escaped', async () => {
    const textFor = async (host: string) => (await request(listen, '/', { host })).body.toString()
    assert.match(await textFor('grid.test:8080'), /<a href="http:\/\/grid\.test:4146\/json">NGINX 4146<\/a>/)
    assert.doesNotMatch(await textFor("a'&b"), /a'&b/)
  })

  test('an app behind it has its own headers; one that does not run has no error', async () => {
    const { status, headers, body } = await request(listen, '/grid/koa-hello/direct/json?a=b')
    assert.deepEqual([status, headers['x-app'], body.toString()], [200, 'koa', '<b>/json?a=b</b>'])
    assert.equal(headers['content-security-policy'], undefined)
    const absent = await request(listen, '/grid/bun-ssr/nginx/readyz')
    assert.deepEqual([absent.status, absent.body.toString()], [200, '{"status":"absent"}'])
  })

  test('in a browser: states, responses, protocol, newest report, without a complaint', {
    skip: BROWSER.skip,
  }, async () => {
    for (const [name, file, time] of [
      ['2026-11-20T08-00-00', 'report.html', 1e9],
      ['2026-11-21T09-14-52', 'report.html', 2e9],
      ['2026-11-22T10-00-00', 'result.json', 3e9],
    ] as const)
      utimesSync(writeRun(name, file, '<!DOCTYPE html><p>The report.'), time, time)
    const browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
    try {
      for (const colorScheme of ['light', 'dark'] as const) await use(await browser.newPage({ colorScheme }))
    } finally {
      await browser.close()
    }
  })

  async function use(page: Page): Promise<void> {
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`http://127.0.0.1:${listen.port}/`)
    await page.getByText('2 of 8 ready').waitFor()
    await page.getByText('This page came by http/1.1.').waitFor()
    const cells = await page.locator('td').allInnerTexts()
    const states = cells.map((text) => text.match(/ready|not ready|not running|no response/g))
    const expected = ['ready', 'not ready', 'not running', 'not running'].map((state) => [state, state])
    assert.deepEqual(states, expected)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Responses of koa hello' }).press('Enter')
    const direct = await page.locator('pre', { hasText: 'x-app: koa' }).first().textContent()
    assert.match(direct ?? '', /^200 OK\n[\s\S]*\n\n<b>\/json<\/b>$/)
    await page.evaluate(AXE)
    const violations = 'axe.run().then(({ violations }) => violations.map(({ id }) => id))'
    assert.deepEqual(await page.evaluate(violations), [])
    await page.keyboard.press('Escape')
    assert.deepEqual(await page.evaluate(violations), [])
    await page.getByRole('link', { name: 'Report of 2026-11-21T09-14-52' }).click()
    await page.getByText('The report.').waitFor()
    assert.deepEqual(complaints, [])
    await page.close()
  }
})
