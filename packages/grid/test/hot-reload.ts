import assert from 'node:assert/strict'
import { once } from 'node:events'
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { until } from '@startgrid/cli/until.ts'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import type { App } from '../src/apps.ts'
import { type Launch, launch } from '../src/launcher.ts'

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
      test(`${app.name}: an edit of the page is seen, and the filter keeps its state`, async () => {
        await using copy = await Copy.of(app)
        // React's development build warns about it, on the server and in the browser.
        await copy.edit('shop/catalogue.tsx', '<section ', '<section class="x" ')
        // Only in development may Vite insert styles and open WebSockets: the contract checks the policy of production.
        assert.equal(policyOf(await copy.fetch('/')), POLICY)
        await using visit = await copy.visit(browser, '/?items=50')
        const { page } = visit
        await filter(page, 'assam')
        await mark(page)

        await copy.edit('shop/catalogue.tsx', 'Our teas', 'Our finest teas')
        await page.getByRole('heading', { name: 'Our finest teas' }).waitFor()
        assert.equal(await page.getByRole('searchbox').inputValue(), 'assam')
        assert.notEqual(await page.locator('output').textContent(), '50 of 50')

        await copy.edit('shop/page.css', 'h1 {', 'h1 { letter-spacing: 7px;')
        const spacing = "getComputedStyle(document.querySelector('h1')).letterSpacing"
        await until('the style is not seen', async () => (await page.evaluate(spacing)) === '7px', 120)
        assert.ok(await isMarked(page), 'the page was reloaded')
        assert.match(await (await copy.fetch('/')).text(), /Our finest teas/)
        const warning = /Invalid DOM property/
        assert.match(copy.output(), warning)
        assert.notEqual(visit.complaints.length, 0)
        for (const complaint of visit.complaints) assert.match(complaint, warning)
        assert.equal(await copy.stop(), 0)
      })

      test(`${app.name}: an error is an overlay in an open page, and in the log, until it is corrected`, async () => {
        await using copy = await Copy.of(app)
        await using visit = await copy.visit(browser, '/stream?items=50')
        await visit.page.getByRole('heading', { name: 'Our teas' }).waitFor()
        await copy.edit('shop/catalogue.tsx', '<section ', '<<section ')
        const overlay = visit.page.locator('vite-error-overlay .message-body')
        await overlay.getByText('Unexpected token').waitFor()
        for (const path of ['/', '/stream']) assert.equal((await copy.fetch(path)).status, 500, path)
        assert.match(copy.output(), /shop\/catalogue\.tsx:\d+:\d+/)
        await copy.edit('shop/catalogue.tsx', '<<section ', '<section ')
        await overlay.waitFor({ state: 'detached' })
        for (const path of ['/', '/stream']) assert.equal((await copy.fetch(path)).status, 200, path)
      })

      test(`${app.name}: a change of the server restarts it, and the browser loads the page again`, async () => {
        await using copy = await Copy.of(app, ['--watch'])
        await using visit = await copy.visit(browser, '/')
        await visit.page.getByRole('heading', { name: 'Our teas' }).waitFor()
        await mark(visit.page)
        await copy.append('src/ssr.ts', "console.log('A new process.')\n")
        // While the browser loads it again, nothing can be asked.
        await until(
          'the page was not loaded again',
          async () => !(await isMarked(visit.page).catch(() => true)),
          120,
        )
        await seen(visit.page, visit.page.getByRole('heading', { name: 'Our teas' }))
        assert.match(copy.output(), /A new process/)
      })
    }
  })
}

/** On a busy machine the browser may load the page again before Vite's server has seen the change. */
async function seen(page: Page, change: Locator): Promise<void> {
  await change.waitFor({ timeout: 30_000 }).catch(async () => {
    await page.reload()
    await change.waitFor()
  })
}

function policyOf(response: Response): string | undefined {
  return response.headers.get('content-security-policy')?.replaceAll(/'nonce-[\w+/=]+'/g, 'NONCE')
}

const POLICY =
  "default-src 'none'; script-src NONCE 'strict-dynamic'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self' ws:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

function urlOf({ target }: Launch): string {
  if (!('port' in target)) throw new Error('It listens on a socket.')
  return `http://${target.host}:${target.port}`
}

/** Vite may load the page again once it has bundled what the page imports: then the text is lost, and typed again. */
async function filter(page: Page, text: string): Promise<void> {
  const box = page.getByRole('searchbox')
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    await box.fill('')
    await box.pressSequentially(text)
    const filtered = page.locator('output').filter({ hasNotText: '50 of 50' })
    if (
      await filtered.waitFor({ timeout: 5000 }).then(
        () => true,
        () => false,
      )
    )
      return
  }
  throw new Error(`The filter does not take '${text}'.`)
}

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
    const running = await launch(
      { ...app, directory: join(directory, 'app') },
      {
        execArgv: ['--conditions=development', ...options],
        // The same after a restart.
        env: { NODE_ENV: 'development', PORT: String(await findPort()) },
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
    return fetch(urlOf(this.#launch) + path)
  }

  output(): string {
    return this.#launch.output()
  }

  /** @returns the exit code */
  stop(): Promise<number | null> {
    return this.#launch.stop()
  }

  /** Opens a page, and notes what the browser complains about. */
  async visit(browser: Browser, path: string) {
    const context = await browser.newContext()
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    const complaints: string[] = []
    const said: string[] = []
    const underWay = new Set<string>()
    page.on('console', (message) => {
      said.push(message.text())
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => underWay.add(request.url()))
    page.on('requestfinished', (request) => underWay.delete(request.url()))
    page.on('requestfailed', (request) => said.push(`${request.url()}: ${request.failure()?.errorText}`))
    // An edit before that is not told to the browser.
    const connected = page.waitForEvent('console', (message) => message.text() === '[vite] connected.')
    await Promise.all([connected, page.goto(urlOf(this.#launch) + path)]).catch(({ message }) => {
      const [browser, open] = [said.join('\n'), [...underWay].join(' ')]
      throw new Error(`${message}\nThe browser says: ${browser}\nUnder way: ${open}\n${this.output()}`)
    })
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
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

async function findPort(): Promise<number> {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
