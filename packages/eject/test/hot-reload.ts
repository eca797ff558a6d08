import { equal, match, ok } from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { until } from '@startgrid/cli/until.ts'
import { chromium, type Page } from 'playwright-core'
import type { ProjectDirectory } from './support.ts'

/**
 * What `npm run dev` promises, in a real browser: an edit of the page is seen without a reload, an error is an overlay, a 500, and in the log,
 * and the browser loads its page again after a change of the server.
 */
export async function editInBrowser(project: ProjectDirectory): Promise<void> {
  const browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
  // While Vite scans on a busy machine, a page waits for longer than usual.
  const { path } = project
  const { url, stop, stdout } = await project.start('dev', { HANDLER_TIMEOUT_MS: '120000' })
  try {
    const response = await fetch(url)
    equal(response.headers.get('content-security-policy')?.replaceAll(/'nonce-[\w+/=]+'/g, 'NONCE'), POLICY)
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    // It tells of no edit before, and may load the page again once, when it has bundled what that imports.
    const connected = page.waitForEvent('console', (message) => message.text() === '[vite] connected.')
    await Promise.all([connected, page.goto(`${url}/stream?items=50`)])
    await page.getByRole('heading', { name: 'Our teas' }).waitFor()
    await page.waitForLoadState('networkidle')

    await mark(page)
    edit(path, 'catalogue.tsx', 'Our teas', 'Our finest teas')
    await page.getByRole('heading', { name: 'Our finest teas' }).waitFor()
    edit(path, 'page.css', 'h1 {', 'h1 { letter-spacing: 7px;')
    const spacing = "getComputedStyle(document.querySelector('h1')).letterSpacing"
    await until('the style is not seen', async () => (await page.evaluate(spacing)) === '7px', 120)
    ok(await isMarked(page), 'the page was reloaded')
    for (const route of ['/', '/stream']) match(await (await fetch(url + route)).text(), /Our finest teas/)

    edit(path, 'catalogue.tsx', '<section ', '<<section ')
    await page.locator('vite-error-overlay').getByText('Unexpected token').waitFor()
    for (const route of ['/', '/stream']) equal((await fetch(url + route)).status, 500, route)
    match(stdout(), /shop\/catalogue\.tsx:\d+:\d+/)
    edit(path, 'catalogue.tsx', '<<section ', '<section ')

    appendFileSync(join(path, 'src/ssr.ts'), "console.log('A new process.')\n")
    // While the browser loads it again, nothing can be asked.
    const isNew = () => isMarked(page).then((marked) => !marked)
    await until('the page was not loaded again', () => isNew().catch(() => false), 120)
    await page.getByRole('heading', { name: 'Our finest teas' }).waitFor()
    match(stdout(), /A new process/)
  } finally {
    await stop()
    await browser.close()
  }
}

/** Only in development may Vite insert styles and open WebSockets: the contract checks the policy of production. */
const POLICY =
  "default-src 'none'; script-src NONCE 'strict-dynamic'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self' ws:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Replaces one text in a source of the page. */
function edit(path: string, file: string, text: string, replacement: string): void {
  const source = join(path, 'shared/page/shop', file)
  const [before = '', after, ...more] = readFileSync(source, 'utf8').split(text)
  ok(after !== undefined && more.length === 0, `${file} has one '${text}'`)
  writeFileSync(source, before + replacement + after)
}

/** Lost when the browser loads the page again. */
function mark(page: Page): Promise<void> {
  return page.evaluate('void Object.assign(window, { isMarked: true })')
}

function isMarked(page: Page): Promise<boolean> {
  return page.evaluate("'isMarked' in window")
}
