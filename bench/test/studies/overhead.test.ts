import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planCells } from '../../src/experiment/cells.ts'
import type { LoadRace, System } from '../../src/result/experiment.ts'
import { startSystem } from '../../src/servers/native/systems.ts'
import { NGINX, pageOf, overhead as STUDY, WITH_USUAL } from '../../studies/overhead/study.ts'

/** What a system responds to these paths: status, headers without values that differ each time, and body. */
async function respond(name: string, paths: readonly string[]) {
  const running = await startSystem(STUDY.systems[name] as System, { nginx: undefined })
  const { target } = running
  try {
    assert.ok('port' in target, name)
    return await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(`http://127.0.0.1:${target.port}${path}`)
        const headers = [...response.headers].map(([header, value]) => {
          const same = value.replace(/'nonce-.{24}'/, "'nonce-…'")
          return `${header}: ${header === 'x-request-id' || header === 'date' ? value.length : same}`
        })
        const text = await response.text()
        // A page has nonces.
        return { path, status: response.status, headers, body: text.length < 100 ? text : text.length }
      }),
    )
  } finally {
    await running.stop()
  }
}

const pathOf = (race: string) => (STUDY.races[race] as LoadRace).workload.path

for (const framework of Object.keys(STUDY.races).filter((name) => name !== NGINX && !name.endsWith(' page')))
  test(`${framework}: what is bare sends the bytes of the app, and the usual packages the same body`, async () => {
    const page = pageOf(framework)
    const paths = [framework, page].map(pathOf)
    // One program is bare in both races.
    assert.deepEqual(STUDY.systems[`${framework} bare`]?.app, STUDY.systems[`${page} bare`]?.app)
    const [bare, logged, usual] = await Promise.all([
      respond(`${framework} bare`, paths),
      Promise.all([framework, page].map((name) => respond(`${name} logged`, [pathOf(name)]))),
      WITH_USUAL.includes(framework) ? respond(`${framework} usual`, paths.slice(0, 1)) : undefined,
    ])
    assert.deepEqual(bare, logged.flat())
    assert.deepEqual([...new Set(bare.map(({ status }) => status))], [200])
    if (usual === undefined) return
    const [{ headers, ...same } = { headers: [] }] = usual
    assert.deepEqual(same, { path: bare[0]?.path, status: 200, body: '{"hello":"world"}' })
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
