import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { APPS, FRAMEWORKS, findApps, findRole, findTopology, ROLES } from '../src/apps.ts'

test('every app has its file', () => {
  for (const { directory, role } of APPS)
    assert.ok(existsSync(`${directory}/src/${role}.ts`), `${directory}/src/${role}.ts is missing.`)
})

test('a name stands for one app, for all of a framework or for all of a role', () => {
  assert.deepEqual(
    findApps('koa/ssr').map(({ name }) => name),
    ['koa/ssr'],
  )
  assert.equal(findApps('koa').length, ROLES.length)
  assert.equal(findApps('ssr').length, FRAMEWORKS.length)
  assert.equal(findRole('status'), 'status')
  assert.equal(findTopology('nginx-tls'), 'nginx-tls')
  assert.throws(() => findApps('coa'), /no app 'coa'.*node, fastify, express.*hello, ssr, status/)
})
