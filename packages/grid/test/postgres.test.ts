import { equal } from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'

/** The recipe `postgres.ts` with a real server, which each test starts in a folder of its own. */

const APPS = fileURLToPath(new URL('../../../apps/', import.meta.url))

/** Where Debian and its kin have the programs of the newest server. */
const TEST_POSTGRES = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
const skip = TEST_POSTGRES === undefined && 'there is no Postgres: sudo apt-get install postgresql'

for (const recipe of globSync('*/recipes/postgres.ts', { cwd: APPS }).sort()) {
  const [framework = ''] = recipe.split('/')
  test(`full: ${framework} with Postgres`, { skip, timeout: 600_000 }, async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const words = ['--test', '--test-isolation=none', '--test-force-exit', '--test-name-pattern=postgres']
    const options = { cwd: APPS + framework, env: { ...env, TEST_POSTGRES } }
    const { code, stdout, stderr } = await startNode([...words, 'test/recipes.test.ts'], options).ended
    equal(code, 0, stdout + stderr)
    equal(/ pass (\d+)/.exec(stdout)?.[1], '1', stdout)
  })
}
