import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { requireRole } from '../../src/launch/lifecycle.ts'

const ROLES = ['hello', 'status'] as const

test('finds a role by its name', () => {
  equal(requireRole(ROLES, 'status'), 'status')
})

test('says which roles there are', () => {
  throws(() => requireRole(ROLES, undefined), {
    name: 'StartError',
    message: 'Say which app to start: hello, status.',
  })
  for (const name of ['quick', 'status.ts', '../status', '', 'constructor']) {
    throws(() => requireRole(ROLES, name), {
      name: 'StartError',
      message: `There is no app '${name}' here, only hello, status.`,
    })
  }
})
