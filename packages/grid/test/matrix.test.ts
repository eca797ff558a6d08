import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { APPS, findApps, findRole, findTopology, UnknownName } from '../src/matrix.ts'

test('there are 21 apps, each with its file', () => {
  assert.equal(new Set(APPS.map(({ name }) => name)).size, 21)
  for (const { directory, role } of APPS) assert.ok(existsSync(`${directory}/src/${role}.ts`))
})

test('a name stands for one app, a framework for three, a role for seven', () => {
  assert.deepEqual(
    findApps('koa/ssr').map(({ name }) => name),
    ['koa/ssr'],
  )
  assert.equal(findApps('koa').length, 3)
  assert.equal(findApps('ssr').length, 7)
  assert.equal(findRole('status'), 'status')
  assert.equal(findTopology('nginx-socket'), 'nginx-socket')
})

test('a wrong name lists the right ones', () => {
  assert.match(
    messageOf(() => findApps('coa')),
    /no app 'coa'.*node, fastify, express.*hello, ssr, status/,
  )
  assert.match(
    messageOf(() => findRole('x')),
    /no role 'x', only hello, ssr, status\.$/,
  )
  assert.match(
    messageOf(() => findTopology('x')),
    /no topology 'x', only direct, nginx, nginx-naive, nginx-socket\.$/,
  )
})

function messageOf(find: () => unknown): string {
  try {
    find()
  } catch (error) {
    if (error instanceof UnknownName) return error.message
  }
  throw new Error('It was found.')
}
