import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { RANDOM_INPUTS, TEST_RUN } from '@startgrid/cli/test-run.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { chromium, type Page } from 'playwright-core'
import { run } from '../src/run.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { personalEnvironment } from './support/environment.ts'
import { type PackageManager, ProjectDirectory, sampleInstalled } from './support/project.ts'

/**
 * What a person does who copies an app out: install, check, build, start, change. Nothing of the workspace is in reach. Installing takes
 * its time, so a short run tries one app with one package manager, or one app with options, or neither.
 */

interface Case {
  app: App
  packageManager: PackageManager
  /** `26` is the Node of this repository. */
  node: '24' | '26'
}

/** Every app with npm, and one per runtime with pnpm and on the oldest Node. */
const cases: readonly Case[] = [
  ...APPS.map((app) => ({ app, packageManager: 'npm', node: '26' }) as const),
  ...['fastify/ssr', 'bun/ssr', 'njs/hello'].flatMap((name) => {
    const apps = APPS.filter((app) => app.name === name)
    return apps.flatMap((app) => [
      { app, packageManager: 'pnpm', node: '26' } as const,
      { app, packageManager: 'npm', node: '24' } as const,
    ])
  }),
]

for (const { app, packageManager, node } of sampleInstalled('plain', cases)) {
  const { name } = app
  test(`${name} stands alone, with ${packageManager} on Node ${node}`, { timeout: 600_000 }, async (t) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'my-app')
    const lock = packageManager === 'npm' ? [] : ['--no-lockfile']
    const ejected = await runEject([name, path, ...lock])
    equal(ejected.code, 0, ejected.stderr)
    const bin = node === '26' ? dirname(process.execPath) : await installNode(node, directory.path)
    const project = new ProjectDirectory(path, packageManager, bin)
    if (packageManager === 'npm') await project.run('ci')
    else await project.run('install', '--no-frozen-lockfile')
    ok(existsSync(join(path, 'node_modules')), 'another project was installed')
    const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const runScripts = async (...names: readonly string[]) => {
      for (const name of names) if (name in scripts) await project.run('run', name)
    }
    const check = () => runScripts('typecheck', 'build', 'test')
    await t.test('lint', () => project.run('run', 'lint'))
    // A short run checks types and tests once: with the route that is added at the end.
    if (TEST_RUN.full) await t.test('typecheck, build and test', check)
    else await runScripts('build')
    await t.test('start, and what it responds', { skip: app.framework === 'njs' && ELSEWHERE }, () =>
      conforms(project, app),
    )
    const isServed = app.framework !== 'njs'
    if (app.role === 'ssr' && isServed)
      await t.test('in development', { skip: BROWSER.skip }, async () => {
        const service = await project.start('run', 'dev')
        try {
          await browse(async (page) => {
            await reloads(page, service.url, path)
            addPage(path, app.framework)
            await finds(`${service.url}/about`)
            await showsPage(page, service.url)
            match(await (await fetch(`${service.url}/assets/about/page.tsx`)).text(), /sourceMappingURL/)
            await edits(page, path)
          })
        } finally {
          await service.stop()
        }
      })
    await t.test('the route that the README adds works', async () => {
      const readme = readFileSync(join(path, 'README.md'), 'utf8')
      if (readme.includes('npm install zod')) await project.run('add', 'zod')
      const files = [...readme.matchAll(/^```ts title="([^"]*greetings[^"]*)"\n([\s\S]*?)^```$/gm)]
      equal(files.length, 2)
      for (const [, file = '', code = ''] of files) writeFileSync(join(path, file), code)
      await check()
      if (app.role !== 'ssr' || app.framework === 'njs' || BROWSER.skip) return
      const service = await project.start()
      try {
        await browse((page) => showsPage(page, service.url))
      } finally {
        await service.stop()
      }
    })
  })
}

/** @returns the directory of its programs */
async function installNode(version: string, directory: string): Promise<string> {
  const target = join(directory, 'node')
  const args = [
    'install',
    '--prefix',
    target,
    '--no-save',
    `node-${process.platform}-${process.arch}@${version}`,
  ]
  await run('npm', args, { cwd: directory, env: personalEnvironment(dirname(process.execPath)) })
  return join(target, `node_modules/node-${process.platform}-${process.arch}/bin`)
}

function insertRoute(path: string, head: string, route: string): void {
  const source = readFileSync(path, 'utf8')
  const first = source.search(/^ *(?:\w+\.get\(|\.get\(|route\('GET'|'\/[^']*': \{)|\.get\(|route\('GET'/m)
  ok(first > 0, 'there is no route')
  writeFileSync(path, `${head}${source.slice(0, first)}${route.trimEnd()}\n${source.slice(first)}`)
}

/** It takes an NGINX with QuickJS, which this machine may lack. */
const ELSEWHERE = 'njs.test.ts starts it in the official image'

async function browse(visit: (page: Page) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({ executablePath: BROWSER.executablePath, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await visit(page)
  } finally {
    await browser.close()
  }
}

async function reloads(page: Page, origin: string, path: string): Promise<void> {
  await page.goto(`${origin}/`)
  const filter = page.getByRole('searchbox')
  await filter.pressSequentially('assam')
  await page.waitForFunction(() => document.querySelector('output')?.textContent !== '50 of 50')
  const source = join(path, 'shared/page/shop/catalogue.tsx')
  const text = readFileSync(source, 'utf8')
  await writeUntilSeen(page, source, text.replace('Our teas', 'Our finest teas'), 'Our finest teas')
  equal(await filter.inputValue(), 'assam')
  ok((await page.locator('output').textContent()) !== '50 of 50')
  writeFileSync(source, text)
}

/** Saves a file until the browser shows its heading: a dev server that has just started may miss the first change. */
async function writeUntilSeen(page: Page, source: string, text: string, heading: string): Promise<void> {
  const seen = page.getByRole('heading', { name: heading })
  for (let tries = 0; !(await seen.isVisible()); tries++) {
    ok(tries < 24, `${heading} is not seen after two minutes`)
    writeFileSync(source, text + '\n'.repeat(tries))
    await seen.waitFor({ timeout: 5_000 }).catch(() => undefined)
  }
}

/** A second page, with an image, a font and a stylesheet. */
const ABOUT = {
  'page.tsx': `import { useState } from 'react'
import type { DocumentProps } from '../pages.ts'
import photo from './photo.png'
import './about.css'

export default function About({ cups, children }: DocumentProps<'about'>) {
  const [count, setCount] = useState(cups)
  return (
    <html lang="en">
      <head>
        <title>About</title>
        <link rel="icon" href={photo} />
      </head>
      <body>
        <h1>About us</h1>
        <img src={photo} alt="A cup" />
        <button type="button" onClick={() => setCount(count + 1)}>
          {count} cups
        </button>
        {children}
      </body>
    </html>
  )
}
`,
  'about.css': `@font-face {
  font-family: Tea;
  src: url(./tea.woff2);
}

h1 {
  font-family: Tea;
  letter-spacing: 7px;
}
`,
  'client.tsx': `import { hydrate } from '../hydrate.tsx'
import About from './page.tsx'

hydrate(About)
`,
  'photo.png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  'tea.woff2': Buffer.from('774f463200010000', 'hex'),
}

/** Its route, as the other routes of the framework are written. */
const ABOUT_ROUTES: Readonly<Record<string, string>> = {
  node: `  route('GET', '/about', (context) =>
    context.html(renderPage('about', { cups: 3, nonce: allowScripts(context.response) })),
  ),`,
  fastify: `  app.get('/about', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(renderPage('about', { cups: 3, nonce: reply.allowScripts() })),
  )`,
  express: `ssr.get('/about', (_request, response) => {
  response.type('html').send(renderPage('about', { cups: 3, nonce: allowScripts(response) }))
})`,
  koa: `ssr.get('/about', (ctx) => {
  ctx.body = renderPage('about', { cups: 3, nonce: allowScripts(ctx) })
})`,
  hono: "  .get('/about', (c) => c.html(renderPage('about', { cups: 3, nonce: allowScripts(c) })))",
  bun: `    '/about': {
      GET: () => {
        const { nonce, headers } = allowScripts()
        return new Response(renderPage('about', { cups: 3, nonce }), { headers })
      },
    },`,
}

/** Adds the page as the README says. */
function addPage(path: string, framework: string): void {
  const pages = join(path, 'shared/page')
  mkdirSync(join(pages, 'about'))
  for (const [name, content] of Object.entries(ABOUT)) writeFileSync(join(pages, 'about', name), content)
  const text = readFileSync(join(pages, 'pages.ts'), 'utf8')
  const listed = text.replace('export interface Pages {\n', '$&  about: { cups: number }\n')
  notEqual(listed, text)
  writeFileSync(join(pages, 'pages.ts'), listed)
  insertRoute(join(path, 'src/ssr.ts'), '', ABOUT_ROUTES[framework] ?? '')
}

/** The server restarts after an edit. */
async function finds(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    ok(tries < 1200, `${url} is not there after two minutes`)
    await sleep(100)
  }
}

/** The picture and the font are there, the styles apply, and it is interactive: the policy lets everything through. */
async function showsPage(page: Page, origin: string): Promise<void> {
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  const font = page.waitForResponse(/\/assets\/tea[^/]*\.woff2$/)
  const response = await page.goto(`${origin}/about`)
  equal(response?.status(), 200)
  equal((await font).headers()['content-type'], 'font/woff2')
  await page.waitForFunction(() => document.querySelector('img')?.naturalWidth === 1)
  const spacing = await page.locator('h1').evaluate((heading) => getComputedStyle(heading).letterSpacing)
  equal(spacing, '7px')
  await page.waitForFunction(() => {
    document.querySelector('button')?.click()
    return document.querySelector('button')?.textContent !== '3 cups'
  })
  deepEqual(errors, [])
}

/** Another edit follows if the browser loaded the page again, because the server had not finished its restart. */
async function edits(page: Page, path: string): Promise<void> {
  const source = join(path, 'shared/page/about/page.tsx')
  const text = readFileSync(source, 'utf8')
  const cups = page.locator('button')
  for (const heading of ['About tea', 'About leaves', 'About kettles']) {
    await cups.click()
    await page.evaluate(() => void Object.assign(window, { isMarked: true }))
    const count = await cups.textContent()
    await writeUntilSeen(page, source, text.replace('About us', heading), heading)
    if (!(await page.evaluate(() => 'isMarked' in window))) continue
    equal(await cups.textContent(), count)
    return
  }
  ok(false, 'The browser loaded the page again after every edit')
}

async function conforms(project: ProjectDirectory, { role, absent }: App): Promise<void> {
  const service = await project.start()
  try {
    const { target } = service
    const report = await checkConformance({
      target,
      role,
      absent,
      runs: RANDOM_INPUTS,
    })
    equal(report.differences.length, 0, `\n${formatReport(report)}`)
    ok(report.passed.length > 20)
  } finally {
    await service.stop()
  }
}
