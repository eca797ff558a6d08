import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '@startgrid/cli/until.ts'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import { findApps } from '@startgrid/grid/apps.ts'
import { APPS } from '../src/choices.ts'
import { type PackageManager, ProjectDirectory, runEject, temporaryDirectory } from './support.ts'

/** What a person does who copies an app out: install, check, build, start, change, stop. Nothing of the workspace is in reach. */

const WITH_PNPM = ['express/ssr', 'bun/ssr', 'njs/hello']

const cases = [
  ...APPS.map((app) => ({ app, packageManager: 'npm' as PackageManager })),
  ...APPS.filter(({ name }) => WITH_PNPM.includes(name)).map((app) => ({
    app,
    packageManager: 'pnpm' as PackageManager,
  })),
]

for (const { app, packageManager } of cases) {
  const isFirst = app.name === 'express/ssr' && packageManager === 'npm'
  test(`${isFirst ? '' : 'full: '}${app.name} stands alone, with ${packageManager}`, {
    timeout: 600_000,
  }, async (t) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'my-app')
    const ejected = await runEject([app.name, path])
    deepEqual([ejected.code, ejected.stderr], [0, ''])
    const project = new ProjectDirectory(path, packageManager)
    await project.run(packageManager === 'npm' ? 'ci' : 'install')
    ok(existsSync(join(path, 'node_modules')), 'another project was installed')
    const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    for (const name of ['lint', 'typecheck', 'build', 'test'])
      if (name in scripts) await t.test(name, () => project.run('run', name))
    if (app.runtime === 'nginx') return // image.test.ts has an NGINX that can run it
    await t.test('it does what the contract says, and ends with 0', async () => {
      const service = await project.start('start')
      try {
        const [{ absent = [] } = {}] = findApps(app.name)
        const report = await checkConformance({ target: service.target, role: app.role, absent })
        equal(report.differences.length, 0, `\n${formatReport(report)}`)
      } finally {
        equal(await service.stop(), 0)
      }
    })
    if (app.role === 'ssr')
      await t.test('an edit of the page is seen, and Vite is there to tell the browser', async () => {
        const { url, stop } = await project.start('dev')
        const get = async (file: string) => (await fetch(url + file)).text()
        try {
          match(await get('/assets/@vite/client'), /WebSocket/)
          match(await get('/'), /Our teas/)
          const source = join(path, 'shared/page/shop/catalogue.tsx')
          let text = readFileSync(source, 'utf8').replace('Our teas', 'Our finest teas')
          const isSeen = async () => {
            text += '\n' // a watcher that has just started may miss the first change
            writeFileSync(source, text)
            return /Our finest teas/.test(await get('/'))
          }
          await until('the edit is not seen', isSeen, 120, 1000)
        } finally {
          await stop()
        }
      })
    await t.test('recipes pass its type check, and respond without what is for development', async () => {
      await project.addRecipes(app)
      await project.run('run', 'typecheck')
      if (app.role !== 'ssr') return // one of the recipes is a page
      await project.run('prune', packageManager === 'npm' ? '--omit=dev' : '--prod')
      await project.askRecipes(app)
    })
  })
}
