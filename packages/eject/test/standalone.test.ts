import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/matrix.ts'
import { chromium } from 'playwright-core'
import { run } from '../src/run.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { personalEnvironment } from './support/environment.ts'
import { type PackageManager, ProjectDirectory } from './support/project.ts'

/**
 * What a person does who copies an app out: install, check, build, start. Nothing of the workspace is in reach. Installing takes its time,
 * so a short run tries one app with one package manager.
 */

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

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

for (const { app, packageManager, node } of sample('installed apps', cases, 1)) {
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
    const check = async () => {
      for (const script of ['typecheck', 'build', 'test'])
        if (script in scripts) await project.run('run', script)
    }
    await t.test('lint', () => project.run('run', 'lint'))
    await t.test('typecheck, build and test', check)
    await t.test('start, and what it responds', { skip: app.framework === 'njs' && ELSEWHERE }, () =>
      conforms(project, app),
    )
    if (app.role === 'ssr' && app.runtime !== 'nginx')
      await t.test(
        'an edit is seen in the browser, which keeps its state',
        { skip: CHROMIUM === undefined },
        () => reloads(project, path),
      )
    await t.test('the route that the README adds works', async () => {
      const readme = readFileSync(join(path, 'README.md'), 'utf8')
      if (readme.includes('npm install zod')) await project.run('add', 'zod')
      addRoute(join(path, `src/${app.role}.ts`), readme)
      await check()
      if (app.framework !== 'njs') await greets(project)
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

/** Does what the README says: the first code block goes to the top, the second before the first route. */
function addRoute(path: string, readme: string): void {
  const [head = '', route = ''] = Array.from(readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code]) => code)
  ok(head !== '' && route !== '')
  const source = readFileSync(path, 'utf8')
  const first = source.search(/^ *(?:\w+\.get\(|\.get\(|route\('GET'|'\/[^']*': \{)|\.get\(|route\('GET'/m)
  ok(first > 0, 'there is no route')
  writeFileSync(path, `${head}${source.slice(0, first)}${route.trimEnd()}\n${source.slice(first)}`)
}

async function greets(project: ProjectDirectory): Promise<void> {
  const service = await project.start()
  try {
    const url = `http://${service.target.host}:${service.target.port}/greetings`
    const headers = { 'content-type': 'application/json' }
    const post = (body: unknown) => fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await post({ name: 'Ada' })
    deepEqual([response.status, await response.json()], [201, { hello: 'Ada' }])
    const refused = await post({ name: '' })
    equal(refused.status, 400)
    match(await refused.text(), /"name"/)
  } finally {
    await service.stop()
  }
}

/** It takes an NGINX with QuickJS, which this machine may lack. */
const ELSEWHERE = 'njs.test.ts starts it in the official image'

async function reloads(project: ProjectDirectory, path: string): Promise<void> {
  const service = await project.start('run', 'dev')
  const source = join(path, 'shared/page/catalogue.tsx')
  const text = readFileSync(source, 'utf8')
  const browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.goto(`http://${service.target.host}:${service.target.port}/`)
    const filter = page.getByRole('searchbox')
    await filter.pressSequentially('assam')
    await page.waitForFunction(() => document.querySelector('output')?.textContent !== '50 of 50')
    writeFileSync(source, text.replace('Our teas', 'Our finest teas'))
    await page.getByRole('heading', { name: 'Our finest teas' }).waitFor()
    equal(await filter.inputValue(), 'assam')
    ok((await page.locator('output').textContent()) !== '50 of 50')
  } finally {
    writeFileSync(source, text)
    await browser.close()
    await service.stop()
  }
}

async function conforms(project: ProjectDirectory, { role, absent }: App): Promise<void> {
  const service = await project.start()
  try {
    const report = await checkConformance({ target: service.target, role, absent })
    equal(report.differences.length, 0, `\n${formatReport(report)}`)
    ok(report.passed.length > 20)
  } finally {
    await service.stop()
  }
}
