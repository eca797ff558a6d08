import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findNginx } from '../../src/find/find.ts'
import { type FrontPage, startFrontPage } from './landing-page.ts'

/** The landing page in an installed Chromium. */

const nginx = await findNginx()

/** Longer than the page waits between two rounds. */
export const POLL_MS = 6_000

/** Why these tests cannot run here, for `skip`. */
export const skip = BROWSER.skip || (nginx.kind === 'none' && nginx.describe())

/** What Chromium says when Docker makes or removes a network on this machine. */
const NOISE = /ERR_NETWORK_CHANGED/

interface VisitOptions extends BrowserContextOptions {
  /** The first address, default the landing page. */
  url?: string
  /** Words on the console that are right: what a browser says about responses of 500 and above. */
  expected?: RegExp
}

/**
 * For a suite: its own landing page, as new before every test.
 * @returns `visit` opens it with a clock that the test can move; a word on the console that was not expected, a breach of its
 *   policy, or a request for another origin fails
 */
export function useFrontPage(): {
  front: () => FrontPage
  visit: (options: VisitOptions, use: (page: Page) => Promise<void>) => Promise<void>
} {
  let browser: Browser
  let front: FrontPage

  before(async () => {
    if (nginx.kind === 'none') return
    browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
    front = await startFrontPage(nginx)
  })
  beforeEach(() => front.reset())
  after(async () => {
    await browser?.close()
    await front?.close()
  })

  return {
    front: () => front,
    async visit({ url = front.origin, expected, ...options }, use) {
      const context = await browser.newContext(options)
      const complaints: string[] = []
      try {
        const page = await context.newPage()
        page.setDefaultTimeout(120_000)
        await page.clock.install()
        listen(page, front.origin, complaints)
        await page.goto(url)
        await use(page)
      } finally {
        await context.close()
      }
      assert.deepEqual(
        complaints.filter((complaint) => !NOISE.test(complaint) && expected?.test(complaint) !== true),
        [],
      )
    },
  }
}

function listen(page: Page, origin: string, complaints: string[]): void {
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`request: ${request.url()}`)
  })
}

/** Waits until the sentence at the top is this one. */
export function untilSummary(page: Page, text: string): Promise<void> {
  return page.locator('#summary').getByText(text, { exact: true }).waitFor()
}

export async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).textContent()) ?? ''
}

/** What the page says about an app: direct, through NGINX. */
export function statesOf(page: Page, service: string): Promise<string[]> {
  return page.locator(`[data-service="${service}"] .state`).allTextContents()
}
