import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { listRoles, loadRole } from '../src/role.ts'

const MANY = join(import.meta.dirname, 'fixtures/roles')
const BROKEN = join(import.meta.dirname, 'fixtures/broken')
const ONE = join(import.meta.dirname, 'fixtures/one')

test('the files of a directory are its roles, except those that all roles share', () => {
  deepEqual(listRoles(MANY), ['fast', 'slow'])
  deepEqual(listRoles(ONE), ['only'])
})

test('loads a role by its name', async () => {
  const { name, role } = await loadRole<{ NAME: string }>(MANY, 'fast')
  deepEqual([name, role.NAME], ['fast', 'fast'])
})

test('needs no name where there is only one', async () => {
  equal((await loadRole(ONE, undefined)).name, 'only')
})

test('says which roles there are', async () => {
  await rejects(loadRole(MANY, undefined), {
    name: 'StartError',
    message: 'Say which app to start: fast, slow.',
  })
  for (const name of ['quick', 'base', 'server', '../roles/fast', 'fast.ts', '', 'constructor']) {
    await rejects(loadRole(MANY, name), {
      name: 'StartError',
      message: `There is no app '${name}' here, only fast, slow.`,
    })
  }
})

test('a role that imports what is not there is one sentence', async () => {
  await rejects(loadRole(BROKEN, undefined), (error: Error) => {
    equal(error.name, 'StartError')
    match(error.message, /^Cannot find module '\S+missing\.js' imported from \S+: install and build first\.$/)
    return true
  })
})
