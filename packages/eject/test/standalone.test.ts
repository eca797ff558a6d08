import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProgram } from '@startgrid/cli/test-programs.ts'
import { until } from '@startgrid/cli/until.ts'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import { findApps } from '@startgrid/grid/apps.ts'
import { APPS } from '../src/choices.ts'
import { ROOT } from '../src/source.ts'
import { loading, type PackageManager, ProjectDirectory, runEject, temporaryDirectory } from './support.ts'

/** What a person does who copies an app out: install, check, build, start, change, stop. Nothing of the workspace is in reach. */

/** That of this repository: the project has none without its packages for development. */
const BUN = join(ROOT, 'node_modules/.bin/bun')

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
          const source = join(path, 'shared/page/shop/catalogue.tsx')
          writeFileSync(source, readFileSync(source, 'utf8').replace('Our teas', 'Our finest teas'))
          await until('the edit is not seen', async () => /Our finest teas/.test(await get('/')))
        } finally {
          await stop()
        }
      })
    if (isFirst) return // test:full has its recipes with pnpm: they take three installations more
    await t.test('recipes pass its type check, and load without what is for development', async () => {
      const { script, env } = loading(await project.addRecipes())
      await project.run('run', 'typecheck')
      await project.run('prune', packageManager === 'npm' ? '--omit=dev' : '--prod')
      const program = app.runtime === 'bun' ? BUN : process.execPath
      const options = { cwd: path, env: { ...process.env, ...env } }
      const { code, stderr } = await startProgram(program, ['--eval', script], options).ended
      equal(code, 0, stderr)
    })
  })
}
