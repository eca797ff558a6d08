import assert from 'node:assert/strict'
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { until } from '@startgrid/cli/until.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { App } from '../src/apps.ts'
import { type Launch, launch, NEVER_SHED } from '../src/launcher.ts'

const SHARED = fileURLToPath(new URL('../../shared/', import.meta.url))

/** What `pnpm dev` and `npm run dev` promise: an edit is seen in a real browser. Each test edits a copy of the sources. */
export function testHotReload(apps: readonly App[]): void {
  describe('hot reload', { skip: BROWSER.skip }, () => {
    let browser: Browser
    before(async () => {
      browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
    })
    after(() => browser?.close())

    for (const app of apps) {
      test(`${app.name}: an edit of the page is seen without a reload; an error is an overlay, a 500, and in the log`, async () => {
        await using copy = await Copy.of(app)
        // Only in development may Vite insert styles and open WebSockets: the contract checks the policy of production.
        assert.equal(policyOf(await copy.fetch('/')), POLICY)
        const page = await copy.visit(browser, '/stream?items=50')
        await mark(page)
        await copy.edit('shop/catalogue.tsx', 'Our teas', 'Our finest teas')
        await page.getByRole('heading', { name: 'Our finest teas' }).waitFor()
        await copy.edit('shop/page.css', 'h1 {', 'h1 { letter-spacing: 7px;')
        const spacing = "getComputedStyle(document.querySelector('h1')).letterSpacing"
        await until('the style is not seen', async () => (await page.evaluate(spacing)) === '7px', 120)
        assert.ok(await isMarked(page), 'the page was reloaded')
        for (const path of ['/', '/stream'])
          assert.match(await (await copy.fetch(path)).text(), /Our finest teas/)

        await copy.edit('shop/catalogue.tsx', '<section ', '<<section ')
        await page.locator('vite-error-overlay').getByText('Unexpected token').waitFor()
        for (const path of ['/', '/stream']) assert.equal((await copy.fetch(path)).status, 500, path)
        assert.match(copy.output(), /shop\/catalogue\.tsx:\d+:\d+/)
        assert.equal(await copy.stop(), 0)
      })

      test(`${app.name}: a change of the server restarts it, and the browser loads the page again`, async () => {
        await using copy = await Copy.of(app, ['--watch'])
        const page = await copy.visit(browser, '/')
        await mark(page)
        await copy.append('src/ssr.ts', "console.log('A new process.')\n")
        // While the browser loads it again, nothing can be asked.
        const isNew = () => isMarked(page).then((marked) => !marked)
        await until('the page was not loaded again', () => isNew().catch(() => false), 120)
        await page.getByRole('heading', { name: 'Our teas' }).waitFor()
        assert.match(copy.output(), /A new process/)
      })
    }
  })
}

function policyOf(response: Response): string | undefined {
  return response.headers.get('content-security-policy')?.replaceAll(/'nonce-[\w+/=]+'/g, 'NONCE')
}

const POLICY =
  "default-src 'none'; script-src NONCE 'strict-dynamic'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self' ws:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Lost when the browser loads the page again. */
function mark(page: Page): Promise<void> {
  return page.evaluate('void Object.assign(window, { isMarked: true })')
}

function isMarked(page: Page): Promise<boolean> {
  return page.evaluate("'isMarked' in window")
}

/** The sources of an app and of what it shares, running as `pnpm dev` runs them. */
class Copy {
  readonly #directory: string
  readonly #launch: Launch

  private constructor(directory: string, launch: Launch) {
    this.#directory = directory
    this.#launch = launch
  }

  static async of(app: App, options: readonly string[] = []): Promise<Copy> {
    const directory = await mkdtemp(join(tmpdir(), 'startgrid-hot-'))
    for (const [from, to] of [
      [SHARED, 'shared'],
      [app.directory, 'app'],
    ] as const) {
      for (const name of ['package.json', 'src'])
        await cp(join(from, name), join(directory, to, name), { recursive: true })
      await linkPackages(join(from, 'node_modules'), join(directory, to, 'node_modules'))
    }
    await mkdir(join(directory, 'app/node_modules/@startgrid'))
    await symlink(join(directory, 'shared'), join(directory, 'app/node_modules/@startgrid/shared'))
    const port = await claimPort({ host: '127.0.0.1', port: 0 }) // the same after a restart
    const running = await launch(
      { ...app, directory: join(directory, 'app') },
      {
        execArgv: ['--conditions=development', ...options],
        // While Vite scans on a busy machine, a page waits for longer than usual.
        env: { ...NEVER_SHED, NODE_ENV: 'development', PORT: String(port) },
      },
    )
    return new Copy(directory, running)
  }

  /** Replaces one text in a source of the page. */
  async edit(file: string, text: string, replacement: string): Promise<void> {
    const path = join(this.#directory, 'shared/src/page', file)
    const source = await readFile(path, 'utf8')
    assert.equal(source.split(text).length, 2, `${file} has one '${text}'`)
    await writeFile(path, source.replace(text, replacement))
  }

  /** Adds to a file of the app. */
  async append(file: string, text: string): Promise<void> {
    await appendFile(join(this.#directory, 'app', file), text)
  }

  fetch(path: string): Promise<Response> {
    return fetch(this.#launch.ready.address + path)
  }

  output(): string {
    return this.#launch.output()
  }

  /** @returns the exit code */
  stop(): Promise<number | null> {
    return this.#launch.stop()
  }

  /** Opens a page, and waits until Vite would tell it of an edit. It may load the page again once, when it has bundled what that imports. */
  async visit(browser: Browser, path: string): Promise<Page> {
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    const connected = page.waitForEvent('console', (message) => message.text() === '[vite] connected.')
    await Promise.all([connected, page.goto(this.#launch.ready.address + path)])
    await page.getByRole('heading', { name: 'Our teas' }).waitFor()
    await page.waitForLoadState('networkidle')
    return page
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** Links every package but those of the workspace. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (name === '@startgrid' || name.startsWith('.')) continue
    await symlink(join(from, name), join(to, name))
  }
}
