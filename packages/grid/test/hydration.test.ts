import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { isTested, sample } from '@startgrid/cli/test-run.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { type Browser, type ConsoleMessage, chromium, type Page } from 'playwright-core'
import { APPS, type App, type Topology } from '../src/apps.ts'
import { type Lineup, startLineup } from '../src/lineup.ts'

/** The page in a real browser: React takes it over without a complaint, and it works. A short run tries half of the apps, each in one topology. */

const FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
]
const TOPOLOGIES = ['direct', 'nginx'] as const
const nginx = await findNginx()
const candidates = APPS.filter((app) => app.role === 'ssr' && isTested(app))
const apps = sample('hydration', candidates, Math.ceil(candidates.length / 2))

describe('hydration', { skip: BROWSER.skip }, () => {
  let lineup: Lineup
  let browser: Browser

  before(async () => {
    lineup = await startLineup({
      apps,
      topologies: TOPOLOGIES,
      nginx: nginx.kind === 'none' ? undefined : nginx,
    })
    browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: FLAGS })
  })
  after(async () => {
    await browser?.close()
    await lineup?.stop()
  })

  for (const app of apps) {
    for (const topology of sample(`hydration of ${app.name}`, TOPOLOGIES, 1)) {
      const skip =
        nginx.kind === 'none' && (topology === 'nginx' || app.runtime === 'nginx') ? nginx.describe() : false
      test(`${app.name} ${topology}: the page is taken over and its filter works`, { skip }, () =>
        visit('/?items=50', app, topology, useFilter),
      )
      test(
        `${app.name} ${topology}: the streamed page is taken over and its filter works`,
        { skip: skip || (app.absent.includes('stream') && 'njs cannot stream (docs/contract.md)') },
        () => visit('/stream?items=50&delay=300', app, topology, useFilter),
      )
    }
  }

  /** Opens a page and lets it be used; any word on the console fails. */
  async function visit(
    path: string,
    app: App,
    topology: Topology,
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    const target = lineup.target(app, topology)
    assert.ok(target && 'port' in target, lineup.failures.get(app.name) ?? `${app.name} was not started`)
    const context = await browser.newContext()
    const complaints: string[] = []
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(120_000)
      page.on('console', (message: ConsoleMessage) => complaints.push(`${message.type()}: ${message.text()}`))
      page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
      page.on('requestfailed', (request) =>
        complaints.push(`failed: ${request.url()} ${request.failure()?.errorText}`),
      )
      page.on('response', (response) => {
        if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
      })
      // A violation of the content security policy is also reported as an event, before any script of the page runs.
      await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) => {
          console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`)
        })
      })
      await page.goto(`http://${target.host}:${target.port}${path}`)
      await use(page)
    } finally {
      await context.close()
    }
    assert.deepEqual(complaints, [])
  }
})

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
  await page.waitForFunction(() => document.querySelector('output')?.textContent !== '50 of 50')
  const shown = await page.locator('ul.teas > li').count()
  assert.equal(await count.textContent(), `${shown} of 50`)
  assert.ok(shown > 0 && shown < total)
  for (const name of await page.locator('ul.teas > li h3').allTextContents()) assert.match(name, /assam/i)
  await page.getByRole('searchbox').fill('')
  await page.waitForFunction(() => document.querySelector('output')?.textContent === '50 of 50')
}
