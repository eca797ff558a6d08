import { equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BROWSER } from '@startgrid/cli/test-programs.ts'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import { findApps } from '@startgrid/grid/apps.ts'
import { APPS } from '../src/choices.ts'
import { editInBrowser } from './hot-reload.ts'
import { type PackageManager, ProjectDirectory } from './support.ts'

/** What a person does who copies an app out: install, check, build, start, change, stop. Nothing of the workspace is in reach. */

/** npm alone took 100 s of each installation on two cores with a load of 30. */
const LIMIT = { timeout: 1_800_000 }

const WITH_PNPM = ['express/ssr', 'bun/ssr', 'njs/hello']

/** Says which build of React has served: that of development has a function for tests. */
const REACT = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
process.on('exit', () => console.error('React:', require('react').act ? 'development' : 'production'))
`

interface Case {
  name: string
  packageManager?: PackageManager
  /** Installs the versions of this repository: `pnpm test` has the same result in a year. The others install the newest. */
  known?: true
}

const cases: Case[] = [
  { name: 'express/ssr', known: true },
  ...APPS.map(({ name }) => ({ name })),
  ...WITH_PNPM.map((name) => ({ name, packageManager: 'pnpm' as const })),
]

for (const { name, packageManager = 'npm', known } of cases) {
  const title = known
    ? 'with the packages of this repository'
    : `with the newest packages by ${packageManager}`
  test(`${known ? '' : 'full: '}${name} stands alone, ${title}`, LIMIT, async (t) => {
    const [app] = APPS.filter((one) => one.name === name)
    ok(app)
    using project = new ProjectDirectory(packageManager)
    await project.eject(app.name)
    const { path } = project
    if (known) await project.installKnown()
    else await project.run(packageManager === 'npm' ? 'ci' : 'install')
    ok(existsSync(join(path, 'node_modules')), 'another project was installed')
    const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    for (const name of ['lint', 'typecheck', 'build', 'test'])
      if (name in scripts) await t.test(name, LIMIT, () => project.run('run', name))
    if (app.runtime === 'nginx') return // image.test.ts has an NGINX that can run it
    await t.test('it does what the contract says, and ends with 0', LIMIT, async () => {
      writeFileSync(join(path, 'probe.mjs'), REACT)
      const probe = { NODE_OPTIONS: '--import=./probe.mjs', BUN_OPTIONS: '--preload=./probe.mjs' }
      const service = await project.start('start', app.role === 'ssr' ? probe : {})
      try {
        const [{ absent = [] } = {}] = findApps(app.name)
        const report = await checkConformance({ target: service.target, role: app.role, absent })
        equal(report.differences.length, 0, `\n${formatReport(report)}`)
      } finally {
        equal(await service.stop(), 0)
      }
      if (app.role === 'ssr') match(service.stderr(), /^React: production$/m)
    })
    if (app.role === 'ssr')
      await t.test('an edit is seen in a browser', { ...LIMIT, skip: BROWSER.skip }, () =>
        editInBrowser(project),
      )
    await t.test(
      'recipes pass its type check, and respond without what is for development',
      LIMIT,
      async () => {
        await project.addRecipes(app, { known: known === true })
        await project.run('run', 'typecheck')
        if (app.role !== 'ssr') return // one of the recipes is a page
        await project.run('prune', packageManager === 'npm' ? '--omit=dev' : '--prod')
        await project.askRecipes(app)
      },
    )
  })
}
