import { equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { chromium, type Page } from 'playwright-core'
import { run } from '../src/run.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { personalEnvironment } from './support/environment.ts'
import { type PackageManager, ProjectDirectory } from './support/project.ts'

/** What a person does who copies an app out: install, check, build, start, change. Nothing of the workspace is in reach. */

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

for (const { app, packageManager, node } of cases) {
  const { name } = app
  const isFirst = name === 'fastify/ssr' && packageManager === 'npm' && node === '26'
  // Installing takes its time.
  test(`${isFirst ? '' : 'full: '}${name} stands alone, with ${packageManager} on Node ${node}`, {
    timeout: 600_000,
  }, async (t) => {
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
    // Types and tests are checked once: with the route that is added at the end.
    await runScripts('build')
    await t.test('start, and what it responds', { skip: app.runtime === 'nginx' && ELSEWHERE }, () =>
      conforms(project, app),
    )
    const isServed = app.runtime !== 'nginx'
    if (app.role === 'ssr' && isServed)
      await t.test('in development', { skip: BROWSER.skip }, async () => {
        const service = await project.start('run', 'dev')
        try {
          await browse(async (page) => {
            await reloads(page, service.url, path)
            match(await (await fetch(`${service.url}/assets/shop/page.tsx`)).text(), /sourceMappingURL/)
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
  const source = join(path, 'src/page/shop/catalogue.tsx')
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

async function conforms(project: ProjectDirectory, { role, absent }: App): Promise<void> {
  const service = await project.start()
  try {
    const { target } = service
    const report = await checkConformance({
      target,
      role,
      absent,
    })
    equal(report.differences.length, 0, `\n${formatReport(report)}`)
    ok(report.passed.length > 20)
  } finally {
    await service.stop()
  }
}
