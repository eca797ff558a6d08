import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FRAMEWORKS, findApps, findRole, findTopology, ROLES } from '../src/apps.ts'
import { launch } from '../src/launcher.ts'
import { whyNot } from './started-apps.ts'

for (const app of findApps('status'))
  test(`${app.name} says OK`, { skip: app.runtime === 'nginx' && whyNot('njs') }, async () => {
    const { ready, stop } = await launch(app)
    try {
      const response = await fetch(`${ready.address}/_/status`)
      assert.deepEqual([response.status, await response.text()], [200, 'OK'])
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain; ?charset=utf-8$/i)
    } finally {
      await stop()
    }
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
