import { deepEqual, equal } from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { completeLockfile, writeLockfile } from '../src/lockfile.ts'
import { temporaryDirectory } from './support/directory.ts'

const LIMIT = { timeout: 180_000 }
const { signal } = new AbortController()

test('a lockfile has no host of a registry, and nothing is installed', LIMIT, async (t) => {
  using directory = temporaryDirectory()
  const write = (name: string, value: unknown) =>
    writeFileSync(join(directory.path, name), JSON.stringify(value))
  mkdirSync(join(directory.path, 'node_modules'))
  write('package.json', { name: 'my-app', dependencies: { statuses: '^2.0.0' } })
  const obstacle = await writeLockfile(directory.path, signal)
  if (obstacle !== undefined) return t.skip(obstacle)
  const text = readFileSync(join(directory.path, 'package-lock.json'), 'utf8')
  deepEqual(Object.keys(JSON.parse(text).packages), ['', 'node_modules/statuses'])
  equal(/https?:/.test(text), false)
})

test('without a registry there is no lockfile, and the reason is said', LIMIT, async (t) => {
  using directory = temporaryDirectory()
  // pnpm tells its scripts a registry and a cache, and these variables win over a file.
  const { npm_config_registry, npm_config_cache, ...env } = process.env
  t.mock.property(process, 'env', env)
  writeFileSync(join(directory.path, 'package.json'), '{"dependencies":{"statuses":"^2.0.0"}}')
  // Nobody listens on port 9, and the empty cache has no copy.
  writeFileSync(join(directory.path, '.npmrc'), 'registry=http://127.0.0.1:9/\ncache=cache\n')
  equal(await writeLockfile(directory.path, signal), 'the registry of npm cannot be reached (ECONNREFUSED)')
})

test('optional packages that the registry lacks are added for their own system', () => {
  const lockfile = (packages: object) => JSON.stringify({ lockfileVersion: 3, packages })
  const tool = {
    version: '2.0.0',
    dev: true,
    optionalDependencies: { 'tool-win32-x64': '2.0.0', 'tool-linux-x64': '2.0.0' },
  }
  const linux = { version: '2.0.0', dev: true, optional: true, os: ['linux'] }
  const known = { 'node_modules/tool': tool, 'node_modules/tool-linux-x64': linux }
  const { packages } = JSON.parse(completeLockfile(lockfile(known)))
  deepEqual(packages, {
    ...known,
    'node_modules/tool-win32-x64': { version: '2.0.0', dev: true, optional: true, os: ['win32'] },
  })
  const complete = lockfile({ ...known, 'node_modules/other/node_modules/tool-win32-x64': {} })
  equal(completeLockfile(complete), complete)
})
