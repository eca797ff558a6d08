import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { startSystem } from '../../src/environments/native/systems.ts'
import { planCells } from '../../src/experiment/cells.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import { BARE, overhead as STUDY } from '../../studies/overhead/study.ts'

test('every framework but NGINX has two kinds of bare hello, and both give the response of the apps', {
  timeout: 240_000,
}, async () => {
  const bare = Object.entries(STUDY.systems).filter(([, { app }]) => app?.package === BARE)
  assert.deepEqual(
    bare.map(([name]) => name),
    CATALOGUE.filter(({ runtime }) => runtime !== 'nginx').flatMap(({ name }) => [
      `${name} bare`,
      `${name} headers`,
    ]),
  )
  for (const [name, system] of bare) {
    const running = await startSystem(system, { nginx: undefined })
    try {
      assert.ok('port' in running.target, name)
      const response = await fetch(`http://127.0.0.1:${running.target.port}${WORKLOADS.hello.path}`)
      assert.deepEqual(await response.json(), { hello: 'world' }, name)
      assert.equal(response.headers.has('x-request-id'), name.endsWith(' headers'), name)
    } finally {
      await running.stop()
    }
  }
})

test('what has duties keeps the contract, and what has none is not asked to', () => {
  const proven = planCells(STUDY)
    .filter(({ role }) => role !== null)
    .map(({ app }) => app.replace(/^\S+ /, ''))
  assert.deepEqual(new Set(proven), new Set(['app', 'logged', 'direct', 'ours', 'ours-naive']))
})
