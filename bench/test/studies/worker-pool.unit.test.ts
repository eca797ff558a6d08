import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processTree } from '@startgrid/machine/processes.ts'
import { startSystem } from '../../src/servers/native/systems.ts'
import { measureMessages } from '../../studies/worker-pool/messages.ts'
import { workerPool } from '../../studies/worker-pool/study.ts'

const context = (signal: AbortSignal) => ({ signal, quick: true, onForeign() {} })
const own = () => processTree(process.pid).filter((pid) => pid !== process.pid)

for (const runtime of ['node', 'bun'] as const)
  test(`messages through a pool on ${runtime} have a rate and a cost`, async () => {
    const { rate = 0, cpu } = await measureMessages(
      { runtime, size: 2 },
      context(new AbortController().signal),
      3000,
    )
    assert.ok(rate > 0 && Number.isFinite(rate), `${rate}`)
    if (process.platform === 'linux') assert.ok(cpu !== undefined && cpu > 0, `${cpu}`)
  })

test('a pool that ends early is one sentence', { skip: process.platform !== 'linux' }, async () => {
  const measuring = measureMessages(
    { runtime: 'node', size: 2 },
    context(new AbortController().signal),
    10_000_000,
  )
  while (own().length < 3) await new Promise(setImmediate)
  for (const pid of own()) process.kill(pid, 'SIGKILL')
  await assert.rejects(measuring, { message: 'qoper8-cp on node has no rate: it ended early' })
})

test('an interruption ends it, with all its processes', async () => {
  const interruption = new AbortController()
  const measuring = measureMessages({ runtime: 'node', size: 2 }, context(interruption.signal), 10_000_000)
  while (process.platform === 'linux' && own().length < 3) await new Promise(setImmediate)
  interruption.abort()
  await assert.rejects(measuring, { name: 'AbortError' })
  while (own().length > 0) await new Promise(setImmediate)
})

for (const pair of [
  ['fastify', 'fastify-pool'],
  ['bun', 'bun-pool'],
])
  test(`${pair.join(' and ')} give the same`, async () => {
    const bodies = pair.map(async (name) => {
      const { [name]: system } = workerPool.systems
      assert.ok(system?.app && system.workload)
      const app = { ...system.app, env: { POOL_SIZE: '2' } }
      const { target, stop } = await startSystem({ ...system, app }, { nginx: undefined })
      try {
        assert.ok('port' in target)
        const response = await fetch(`http://${target.host}:${target.port}${system.workload.path}`)
        return [response.status, await response.text()]
      } finally {
        await stop()
      }
    })
    const [own, pooled] = await Promise.all(bodies)
    assert.deepEqual(own, pooled)
    assert.equal(own?.[0], 200)
  })
