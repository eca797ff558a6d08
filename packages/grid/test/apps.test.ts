import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { APPS, FRAMEWORKS, findApps, findRole, findTopology, ROLES } from '../src/apps.ts'
import { CATALOGUE } from '../src/frameworks.ts'

const APPS_DIR = new URL('../../../apps/', import.meta.url)
const ENTRIES = 'packages/grid/src/frameworks.ts'

test('every folder in apps/ has an entry in the catalogue, and every entry has a folder', () => {
  const folders = readdirSync(APPS_DIR).filter((name) =>
    existsSync(new URL(`${name}/package.json`, APPS_DIR)),
  )
  for (const folder of folders)
    assert.ok(FRAMEWORKS.includes(folder), `apps/${folder} has no entry in ${ENTRIES}: add one.`)
  for (const name of FRAMEWORKS)
    assert.ok(folders.includes(name), `${ENTRIES} has an entry '${name}', but there is no apps/${name}.`)
})

test('every app has its file', () => {
  for (const { directory, role } of APPS)
    assert.ok(existsSync(`${directory}/src/${role}.ts`), `${directory}/src/${role}.ts is missing.`)
})

test('no two frameworks have the same name, and their ports have three digits behind the prefix', () => {
  assert.equal(new Set(FRAMEWORKS).size, CATALOGUE.length)
  assert.ok(CATALOGUE.length < 90)
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
    /no topology 'x', only direct, nginx, nginx-tls\.$/,
  )
})

function messageOf(find: () => unknown): string {
  try {
    find()
  } catch (error) {
    if (error instanceof UsageError) return error.message
  }
  throw new Error('It was found.')
}
