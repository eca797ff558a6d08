import { equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sample } from '@startgrid/cli/test-run.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/matrix.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { type PackageManager, ProjectDirectory } from './support/project.ts'

/**
 * What a person does who copies an app out: install, check, build, start. Nothing of the workspace is in reach. Installing takes its time,
 * so a short run tries one app with one package manager.
 */

const cases: readonly [app: App, packageManager: PackageManager][] = APPS.flatMap((app) => [
  [app, 'npm'],
  [app, 'pnpm'],
])

for (const [app, packageManager] of sample('installed apps', cases, 1)) {
  const { name } = app
  test(`${name} stands alone, installed with ${packageManager}`, { timeout: 600_000 }, async (t) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'my-app')
    const ejected = await runEject([name, path])
    equal(ejected.code, 0, ejected.stderr)
    const project = new ProjectDirectory(path, packageManager)
    await project.run('install')
    const lockfile = packageManager === 'npm' ? 'package-lock.json' : 'pnpm-lock.yaml'
    ok(existsSync(join(path, lockfile)), 'another project was installed')
    const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    for (const script of ['lint', 'typecheck', 'build', 'test']) {
      if (script in scripts) await t.test(script, () => project.run('run', script))
    }
    await t.test('start, and what it answers', { skip: app.framework === 'njs' && ELSEWHERE }, () =>
      conforms(project, app),
    )
    if (app.role === 'ssr' && app.runtime !== 'nginx')
      await t.test('dev shows an edit of the page', () => reloads(project, path))
  })
}

/** It takes an NGINX with QuickJS, which this machine may lack. */
const ELSEWHERE = 'njs.test.ts starts it in the official image'

/** That the browser shows it without losing its state is proved in the workspace. */
async function reloads(project: ProjectDirectory, path: string): Promise<void> {
  const service = await project.start('run', 'dev')
  const url = `http://${service.target.host}:${service.target.port}/`
  const page = join(path, 'shared/page/catalogue.tsx')
  const source = readFileSync(page, 'utf8')
  try {
    match(await (await fetch(url)).text(), /Our teas/)
    writeFileSync(page, source.replace('Our teas', 'Our finest teas'))
    // Vite may see the edit after a request.
    while (!(await (await fetch(url)).text()).includes('Our finest teas')) await sleep(50)
  } finally {
    writeFileSync(page, source)
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
