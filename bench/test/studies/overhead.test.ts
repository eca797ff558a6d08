import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSystem } from '../../src/environments/native/systems.ts'
import { planCells } from '../../src/experiment/cells.ts'
import type { LoadRace, System } from '../../src/model/experiment.ts'
import { NGINX, pageOf, overhead as STUDY, WITH_USUAL } from '../../studies/overhead/study.ts'

/** What a system responds: its status, its headers without values that differ each time, and its body. */
async function respond(system: System, path: string) {
  const running = await startSystem(system, { nginx: undefined })
  try {
    assert.ok('port' in running.target, system.title)
    const response = await fetch(`http://127.0.0.1:${running.target.port}${path}`)
    const headers = [...response.headers].map(([name, value]) => {
      const same = value.replace(/'nonce-.{24}'/, "'nonce-…'")
      return `${name}: ${name === 'x-request-id' || name === 'date' ? value.length : same}`
    })
    return { status: response.status, headers, body: await response.text() }
  } finally {
    await running.stop()
  }
}

for (const framework of Object.keys(STUDY.races).filter((name) => name !== NGINX && !name.endsWith(' page')))
  test(`${framework}: what is bare sends the bytes of the app, and the usual packages the same body`, {
    timeout: 120_000,
  }, async () => {
    for (const name of [framework, pageOf(framework)]) {
      const { workload } = STUDY.races[name] as LoadRace
      const at = (way: string) => respond(STUDY.systems[`${name} ${way}`] as System, workload.path)
      const [bare, logged] = [await at('bare'), await at('logged')]
      assert.deepEqual(bare.headers, logged.headers, name)
      assert.equal(bare.status, 200)
      assert.equal(bare.body.length, logged.body.length, name)
    }
    if (!WITH_USUAL.includes(framework)) return
    const { status, headers, body } = await respond(STUDY.systems[`${framework} usual`] as System, '/json')
    assert.deepEqual({ status, body }, { status: 200, body: '{"hello":"world"}' })
    for (const name of ['x-request-id', 'x-content-type-options', 'referrer-policy'])
      assert.ok(
        headers.some((header) => header.startsWith(`${name}: `)),
        name,
      )
  })

test('what has duties keeps the contract, and what has none is not asked to', () => {
  const proven = planCells(STUDY)
    .filter(({ role }) => role !== null)
    .map(({ app }) => app.split(' ').at(-1))
  assert.deepEqual(new Set(proven), new Set(['app', 'logged', 'direct', 'ours', 'ours-naive']))
})
