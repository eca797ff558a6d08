import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { type Browser, type ConsoleMessage, chromium, type Page } from 'playwright-core'
import { APPS, type App, findApps } from '../src/apps.ts'
import { launch } from '../src/launcher.ts'
import { type StartedApps, startApps, whyNot } from './started-apps.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
]

/** The page in a real browser, of a framework on each runtime. */
testHydration([...findApps('node/ssr'), ...findApps('bun/ssr')], 'direct')
testHydration([...findApps('fastify/ssr'), ...findApps('njs/ssr')], 'nginx')
describe('full: every app', () => {
  const pages = APPS.filter(({ role }) => role === 'ssr')
  for (const topology of ['direct', 'nginx'] as const) testHydration(pages, topology)
})

test('with --conditions=development, Vite serves the page of this repository', async () => {
  const [app] = findApps('express/ssr')
  assert.ok(app)
  const { ready, stop } = await launch(app, { execArgv: ['--conditions=development'] })
  try {
    assert.match(await (await fetch(`${ready.address}/assets/@vite/client`)).text(), /WebSocket/)
  } finally {
    await stop()
  }
})

/** React takes the page over without a complaint, and it works. */
function testHydration(apps: readonly App[], topology: 'direct' | 'nginx'): void {
  const skip = BROWSER.skip || whyNot(topology)
  describe(`hydration, ${topology}`, { skip }, () => {
    let started: StartedApps
    let browser: Browser

    before(async () => {
      started = await startApps(apps, topology)
      browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: FLAGS })
    })
    after(async () => {
      await browser?.close()
      await started?.stop()
    })

    for (const [index, app] of apps.entries()) {
      test(`${app.name}: the page is taken over and its filter works`, () => visit('/?items=50', index))
      if (!app.absent.includes('stream'))
        test(`${app.name}: the streamed page is taken over and its filter works`, () =>
          visit('/stream?items=50&delay=300', index))
    }

    /** Opens a page and lets it be used; any word on the console fails. */
    async function visit(path: string, index: number): Promise<void> {
      const target = started.targets[index]
      assert.ok(target && 'port' in target)
      const context = await browser.newContext()
      const complaints: string[] = []
      try {
        const page = await context.newPage()
        page.setDefaultTimeout(120_000)
        page.on('console', (message: ConsoleMessage) =>
          complaints.push(`${message.type()}: ${message.text()}`),
        )
        page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
        page.on('requestfailed', (request) =>
          complaints.push(`failed: ${request.url()} ${request.failure()?.errorText}`),
        )
        page.on('response', (response) => {
          if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
        })
        // A violation of the content security policy is also reported as an event, before any script of the page runs.
        const report = '({ violatedDirective, blockedURI }) => console.error(violatedDirective, blockedURI)'
        await page.addInitScript(`document.addEventListener('securitypolicyviolation', ${report})`)
        await page.goto(`http://${target.host}:${target.port}${path}`)
        await useFilter(page)
      } finally {
        await context.close()
      }
      assert.deepEqual(complaints, [])
    }
  })
}

/** Typing changes the list only when React is at work: the server rendered all 50. */
async function useFilter(page: Page): Promise<void> {
  const count = page.locator('output')
  assert.equal(await count.textContent(), '50 of 50')
  // The part inside Suspense, which a streamed page gets late.
  await page
    .getByRole('complementary', { name: 'Customers also liked' })
    .getByRole('listitem')
    .nth(2)
    .waitFor()
  const total = await page.locator('ul.teas > li').count()
  await page.getByRole('searchbox').pressSequentially('assam')
  await page.locator('output').filter({ hasNotText: '50 of 50' }).waitFor()
  const shown = await page.locator('ul.teas > li').count()
  assert.equal(await count.textContent(), `${shown} of 50`)
  assert.ok(shown > 0 && shown < total)
  for (const name of await page.locator('ul.teas > li h3').allTextContents()) assert.match(name, /assam/i)
  await page.getByRole('searchbox').fill('')
  await page.locator('output').filter({ hasText: '50 of 50' }).waitFor()
}
