import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { formatHtml } from '../../src/report/html/page.ts'
import { documentOf } from '../../src/report/report.ts'
import { golden } from '../fixtures/golden.ts'
import { explainedRace } from '../fixtures/profiles.ts'
import { rateResult } from '../fixtures/results.ts'

/** report.html in a real browser, opened as a file: complete, quiet, usable by keyboard, readable anywhere. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const KINDS = ['rate', 'study', 'why'] as const

describe('report.html', { skip: BROWSER.skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'report-html-'))
  let browser: Browser

  before(async () => {
    for (const kind of KINDS) {
      const result = kind === 'rate' ? rateResult() : kind === 'why' ? explainedRace() : golden(kind)
      writeFileSync(fileOf(kind), formatHtml(documentOf(result)))
    }
    browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
  })
  after(async () => {
    await browser?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  for (const kind of KINDS)
    test(`${kind}, everything unfolded: axe finds nothing, from 360 to 1280 pixels only tables and the command scroll sideways`, () =>
      visit(kind, {}, async (page) => {
        await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`)
        await page.evaluate(AXE)
        // The other scheme has other colours of the same things.
        for (const colorScheme of kind === 'study' ? (['dark'] as const) : (['light', 'dark'] as const)) {
          await page.emulateMedia({ colorScheme })
          const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
            `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
          )
          assert.deepEqual(
            found.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html}`),
            [],
          )
        }
        for (const width of [360, 768, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), width)
        }
      }))

  test('on a phone the chart begins on the first screen, and what scrolls can be reached and scrolled by keyboard', () =>
    visit('rate', { viewport: { width: 390, height: 844 } }, async (page) => {
      const top = await page.evaluate<number>(`document.querySelector('figure').getBoundingClientRect().top`)
      assert.ok(top < 844, `${top}: the chart begins on the first screen of a phone`)
      const region = page.locator('#hello-direct + .scroll')
      // Chromium lets every scroller be focused; other browsers ask for it.
      assert.equal(await region.getAttribute('tabindex'), '0')
      await region.focus()
      const scrolled = region.evaluate('(region) => new Promise((resolve) => (region.onscroll = resolve))')
      await page.keyboard.press('ArrowRight')
      await scrolled
    }))

  test('forced colours reach the charts', () =>
    visit('rate', { forcedColors: 'active' }, async (page) => {
      const colorOf = (selector: string, property: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`)
      assert.equal(await colorOf('figure [fill="var(--dot)"]', 'fill'), await colorOf('body', 'color'))
    }))

  /** Opens a report; a request for anything but itself, a word on the console, or a breach of its policy fails. */
  async function visit(
    kind: string,
    options: BrowserContextOptions,
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options)
    const complaints: string[] = []
    const url = pathToFileURL(fileOf(kind)).href
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(120_000)
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
      page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
      page.on('request', (request) => {
        if (request.url() !== url && request.url() !== 'data:,') complaints.push(`request: ${request.url()}`)
      })
      await page.goto(url)
      await use(page)
    } finally {
      await context.close()
    }
    assert.deepEqual(complaints, [])
  }

  function fileOf(kind: string): string {
    return join(directory, `${kind}.html`)
  }
})
