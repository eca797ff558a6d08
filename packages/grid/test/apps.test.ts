import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { APPS, FRAMEWORKS, findApps, findRole, findTopology, ROLES } from '../src/apps.ts'

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
