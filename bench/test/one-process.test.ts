import { globSync } from 'node:fs'
import { test } from 'node:test'

/**
 * Tests that start nothing and change nothing outside of themselves share one process: alone, each of these files would load the
 * same modules again. Outside of these folders, their names end in `.unit.test.ts`.
 */

const files = globSync(['{experiment,golden,judge,report}/**/*.test.ts', '**/*.unit.test.ts'], {
  cwd: import.meta.dirname,
  exclude: ['**/browser.test.ts'],
})
if (files.length === 0) throw new Error('There is no test file that could share this process.')
const loading = load()
// --test-force-exit ends the process as soon as no known test is left: this one is, until all others are known.
test('every file is loaded', () => loading)
await loading
// What nobody has read by then would be lost: 24 of 349 tests on a busy machine. So each write waits.
Object(process.stdout)._handle?.setBlocking?.(true)

async function load(): Promise<void> {
  for (const file of files.toSorted()) await import(`./${file}`)
}
