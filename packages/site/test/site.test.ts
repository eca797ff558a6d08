import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { BROWSER, startNode } from '@startgrid/cli/test-programs.ts'
import { parseHTML } from 'linkedom'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { PAGES, ROOT } from '../src/documents.ts'
import { createSite } from '../src/site.ts'

/** The site, built once, and below a path, as it is published. */

const BASE = '/startgrid/'
const REPOSITORY = 'https://git.example/startgrid/blob/main'
const output = mkdtempSync(join(tmpdir(), 'site-'))

await createSite({ output, base: BASE, repository: REPOSITORY }).write()
process.once('exit', () => rmSync(output, { recursive: true, force: true }))

/** What pages point at, and the names inside of each, by address below the base. */
const targets: { from: string; link: string }[] = []
const names = new Map<string, ReadonlySet<string>>()

before(() => {
  for (const file of globSync('**/*.html', { cwd: output })) {
    const { document } = parseHTML(readFileSync(join(output, file), 'utf8'))
    const address = `/${file.replace(/index\.html$/, '')}`
    names.set(address, new Set([...document.querySelectorAll('[id]')].map(({ id }) => id)))
    for (const element of document.querySelectorAll('[href], [src]'))
      targets.push({ from: address, link: element.getAttribute('href') ?? element.getAttribute('src') ?? '' })
  }
})

test('every document of the repository and the five pages are there', () => {
  const documents = globSync('docs/**/*.md', { cwd: ROOT })
  assert.ok(names.size >= documents.length + PAGES.length, String(names.size))
  for (const { path } of PAGES) assert.ok(names.has(path), path)
})

test('all links and anchors resolve', () => {
  const broken = targets.filter(({ from, link }) => !resolves(from, link))
  assert.deepEqual(broken, [])
})

test('every document can be reached from Home', () => {
  const reached = new Set(['/'])
  for (const address of reached)
    for (const { from, link } of targets)
      if (from === address && link.startsWith(BASE))
        reached.add(`/${link.slice(BASE.length).replace(/#.*/, '')}`)
  assert.deepEqual(
    [...names.keys()].filter((address) => !reached.has(address)),
    [],
  )
})

test('--serve shows them until Ctrl-C', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'site-'))
  const cli = join(ROOT, 'packages/site/src/cli.ts')
  const { child, ended } = startNode([cli, '--serve', '--output', directory])
  let printed = ''
  for await (const text of child.stderr.setEncoding('utf8')) {
    printed += text
    const address = /Server at (\S+)\n/.exec(stripVTControlCharacters(printed))?.[1]
    if (address === undefined) continue
    assert.match(await (await fetch(address)).text(), /<h1>Startgrid<\/h1>/)
    child.kill('SIGINT')
    break
  }
  const { code } = await ended
  rmSync(directory, { recursive: true, force: true })
  assert.equal(code, 0)
})

function resolves(from: string, link: string): boolean {
  if (link.startsWith(REPOSITORY)) return existsSync(join(ROOT, link.slice(REPOSITORY.length)))
  if (/^(?:https?|mailto|data):/.test(link)) return true
  const { pathname, hash } = new URL(link, `http://site${BASE}${from.slice(1)}`)
  if (!pathname.startsWith(BASE)) return false
  const address = `/${relative(BASE, pathname)}${pathname.endsWith('/') ? '/' : ''}`.replace('//', '/')
  if (hash !== '') return names.get(address)?.has(decodeURIComponent(hash.slice(1))) ?? false
  return names.has(address) || existsSync(join(output, address))
}

/** The pages in a real browser, below a path as they are published. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
}
/** The five pages, and one of prose, figures and wide tables. */
const SEEN = [...PAGES.map(({ path }) => path), '/docs/results/', '/docs/studies/nginx-proxy/']
const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const

describe('the site', { skip: BROWSER.skip }, () => {
  const server = createServer((request, response) => {
    const path = join(output, (request.url ?? '').replace(/\?.*/, '').slice(BASE.length - 1))
    const stats = statSync(path, { throwIfNoEntry: false })
    const file = stats?.isDirectory() ? join(path, 'index.html') : path
    response.statusCode = stats === undefined ? 404 : 200
    response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain')
    response.end(stats === undefined ? '' : readFileSync(file))
  })
  let browser: Browser
  let origin = ''

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
  })
  after(async () => {
    await browser?.close()
    server.close()
  })

  for (const path of SEEN)
    for (const { width, colorScheme } of LOOKS)
      test(`${path} at ${width} pixels, ${colorScheme}: axe finds nothing, and only tables scroll sideways`, () =>
        visit(path, { colorScheme, viewport: { width, height: 800 } }, async (page) => {
          await page.evaluate(AXE)
          const violations = 'violations.map(({ id, nodes }) => [id, nodes[0].html])'
          const found = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => ${violations})`
          assert.deepEqual(await page.evaluate(found), [])
          assert.equal(await page.evaluate<number>('document.documentElement.scrollWidth'), width)
        }))

  test('what is chosen in Results is shown, and the address brings it back', () =>
    visit('/results/', {}, async (page) => {
      const shown = () => page.locator('[data-role]').filter({ visible: true })
      assert.equal(await shown().count(), 1)
      await page.locator('[name=role]').selectOption('ssr')
      await page.reload()
      assert.equal(await shown().getAttribute('data-role'), 'ssr')
    }))

  test('Claims can be filtered by verdict', () =>
    visit('/claims/?verdict=not+reproduced+here', {}, async (page) => {
      const verdicts = await page.locator('[data-verdict]').filter({ visible: true }).all()
      assert.ok(verdicts.length > 0)
      for (const row of verdicts) assert.equal(await row.getAttribute('data-verdict'), 'not reproduced here')
    }))

  test('without a script every race is there, and no control that does nothing', () =>
    visit('/results/', { javaScriptEnabled: false }, async (page) => {
      const races = page.locator('[data-role]')
      assert.equal(await races.filter({ visible: true }).count(), await races.count())
      assert.equal(await page.locator('form').filter({ visible: true }).count(), 0)
    }))

  /** A request to another host, a word on the console, or a breach of the policy fails. */
  async function visit(path: string, options: BrowserContextOptions, use: (page: Page) => Promise<void>) {
    const context = await browser.newContext(options)
    const complaints: string[] = []
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(120_000)
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
      page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`))
      page.on('response', (response) => {
        if (!response.ok()) complaints.push(`${response.status()} ${response.url()}`)
      })
      page.on('request', (request) => {
        const url = request.url()
        if (!url.startsWith(origin + BASE) && url !== 'data:,') complaints.push(`request: ${url}`)
      })
      await page.goto(`${origin}${BASE}${path.slice(1)}`)
      await use(page)
    } finally {
      await context.close()
    }
    assert.deepEqual(complaints, [])
  }
})
