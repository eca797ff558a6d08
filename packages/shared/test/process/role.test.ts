import { deepEqual, equal, throws } from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { findRole, listRoles } from '../../src/process/role.ts'

const ROLES = join(import.meta.dirname, 'fixtures/roles')

test('the files of a directory are its roles, except those that all roles share', () => {
  deepEqual(listRoles(ROLES), ['broken', 'fast', 'slow'])
})

test('finds a role by its name', () => {
  equal(findRole(ROLES, 'fast'), 'fast')
})

test('says which roles there are', () => {
  throws(() => findRole(ROLES, undefined), {
    name: 'StartError',
    message: 'Say which app to start: broken, fast, slow.',
  })
  for (const name of ['quick', 'base', 'server', '../roles/fast', 'fast.ts', '', 'constructor']) {
    throws(() => findRole(ROLES, name), {
      name: 'StartError',
      message: `There is no app '${name}' here, only broken, fast, slow.`,
    })
  }
})
