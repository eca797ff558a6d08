import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sample } from '@startgrid/cli/test-run.ts'
import type { Page } from 'playwright-core'
import { skip, textOf, untilSummary, useFrontPage } from './support/visit.ts'

/** What one can do on the landing page, and that everyone can: by keyboard, with axe's rules, narrow, without a script. */

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

describe('landing page: use', { skip }, () => {
  const { visit, front } = useFrontPage()

  test('links lead to the published ports on the host of this page', () =>
    visit({}, async (page) => {
      const leadingTo = (url: string) =>
        page
          .getByRole('link')
          .and(page.locator(`[href="${url}"]`))
          .waitFor()
      await leadingTo('http://127.0.0.1:4148/_/status')
      await page.route('**/ports.json', (route) => route.fulfill({ json: { prefix: '52' } }))
      await page.reload()
      await leadingTo('http://127.0.0.1:52148/_/status')
      await page.getByRole('link', { name: 'koa status NGINX 52148' }).waitFor()
    }))

  test('by keyboard: check, open the response of an app, read both ways, close', () =>
    visit({}, async (page) => {
      await untilSummary(page, '12 of 12 respond')
      await page.locator('[href="http://127.0.0.1:4121/json"]').waitFor()
      await page.keyboard.press('Tab')
      assert.equal(await focused(page), 'Check now')
      for (const expected of [
        'fastify hello direct 4121',
        'fastify hello NGINX 4126',
        'Headers of fastify hello',
      ]) {
        await page.keyboard.press('Tab')
        assert.equal(await focused(page), expected)
      }
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'fastify hello: GET /json' })
      await dialog.getByText('Done.').waitFor()
      assert.equal(await focused(page), 'Close')
      for (const [name, port] of [
        ['direct', 4121],
        ['through NGINX', 4126],
      ]) {
        const response = dialog.getByRole('region', { name: String(name) })
        assert.equal(await response.locator('code').textContent(), `curl -i http://127.0.0.1:${port}/json`)
        const text = (await response.locator('pre').textContent()) ?? ''
        assert.match(text, /^200 OK\n/)
        assert.match(text, /^x-app: a stand-in$/m)
        assert.match(text, /\n\n<b>\/json<\/b>\.+\n\[and 400 characters more\]$/)
      }
      await page.keyboard.press('Escape')
      assert.equal(await dialog.isVisible(), false)
      assert.equal(await focused(page), 'Headers of fastify hello')
      assert.equal(front().stub('fastify-hello').seen.length, 2)
      await page.keyboard.press('Space')
      await dialog.getByRole('button', { name: 'Close' }).press('Enter')
      assert.equal(await dialog.isVisible(), false)
    }))

  test('the response of an absent app is the 502 of NGINX', async () => {
    await front().stub('koa-ssr').stop()
    await visit({ expected: /status of 502/ }, async (page) => {
      await page.getByRole('button', { name: 'Headers of koa ssr' }).click()
      await page.getByText('Done.').waitFor()
      for (const text of await page.locator('dialog pre').allTextContents())
        assert.match(text, /^502 Bad Gateway\n/)
    })
  })

  test('the newest run that has a report is linked, and the report works', async () => {
    makeRun('2026-11-20T08-00-00', 1, ['report.html'])
    makeRun('2026-11-21T09-14-52', 2, ['report.html', 'report.md', 'result.json'])
    makeRun('2026-11-22T10-00-00', 3, ['result.json'])
    await visit({}, async (page) => {
      const link = page.getByRole('link', { name: 'Report of 2026-11-21 09:14 UTC' })
      await link.waitFor()
      assert.equal(await textOf(page, '#report'), 'Report of 2026-11-21 09:14 UTC · report.md · result.json')
      await link.click()
      await page.getByText('The script ran.').waitFor()
      assert.equal(page.url(), `${front().origin}/results/2026-11-21T09-14-52/report.html`)
    })
  })

  test('without a report it says how to get one', () =>
    visit({}, async (page) => {
      await untilSummary(page, '12 of 12 respond')
      assert.match(await textOf(page, '#report'), /^There is none yet: pnpm bench/)
    }))

  for (const colorScheme of sample('colour schemes', ['light', 'dark'] as const, 1)) {
    test(`${colorScheme}: axe finds nothing, with every state and with responses`, async () => {
      await front().stub('koa-ssr').stop()
      front().stub('koa-hello').state = 'fail'
      await visit({ colorScheme, expected: /status of 50[23]/ }, async (page) => {
        await untilSummary(page, '8 of 12 respond')
        assert.deepEqual(await findViolations(page), [])
        await page.getByRole('button', { name: 'Headers of koa ssr' }).click()
        await page.getByText('Done.').waitFor()
        assert.deepEqual(await findViolations(page), [])
      })
    })
  }

  for (const width of sample('widths', [320, 360, 768, 1280], 2)) {
    test(`at ${width} pixels nothing scrolls sideways`, () =>
      visit({ viewport: { width, height: 800 } }, async (page) => {
        await untilSummary(page, '12 of 12 respond')
        const widthOf = (selector: string) =>
          page.evaluate<number>(`document.querySelector('${selector}').scrollWidth`)
        assert.equal(await widthOf('html'), width)
        for (const cell of await page.locator('th, td').all())
          assert.ok(
            await cell.evaluate((element) => element.scrollWidth <= element.clientWidth),
            `${await cell.textContent()}`,
          )
      }))
  }

  test('without a script it has every link, says what is missing, and has no button', () =>
    visit({ javaScriptEnabled: false }, async (page) => {
      assert.equal(await page.getByRole('link').count(), 12)
      assert.equal(
        await page.getByRole('link', { name: 'koa ssr direct 4142' }).getAttribute('href'),
        'http://localhost:4142/',
      )
      assert.ok(await page.locator('noscript p').isVisible())
      assert.equal(await page.getByRole('button').count(), 0)
    }))

  /** As bench writes them: with a script inside, and a policy in the document that allows just this one. */
  function makeRun(name: string, minute: number, files: readonly string[]): void {
    const directory = join(front().results, name)
    mkdirSync(directory, { recursive: true })
    for (const file of files) writeFileSync(join(directory, file), REPORT)
    utimesSync(directory, minute * 60, minute * 60)
  }
})

const SCRIPT = "document.querySelector('p').textContent = 'The script ran.'"
const HASH = createHash('sha256').update(SCRIPT).digest('base64')
const REPORT = `<!DOCTYPE html><html lang="en"><head><title>Report</title><link rel="icon" href="data:,">
<meta http-equiv="content-security-policy" content="default-src 'none'; img-src data:; script-src 'sha256-${HASH}'">
</head><body><p></p><script>${SCRIPT}</script></body></html>`

function focused(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement.textContent')
}

async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}
