import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStartgridDriver } from '../../src/drivers/create.ts'
import { judgeOverhead } from '../../src/judge/overhead.ts'
import { frameworkGroup, measureOverhead, OVERHEAD_FRAMEWORKS } from '../../src/measure/overhead.ts'

test('every framework but NGINX has a bare hello, and all give right responses', {
  timeout: 120_000,
}, async () => {
  assert.deepEqual(OVERHEAD_FRAMEWORKS, ['node', 'fastify', 'express', 'koa', 'hono', 'bun'])
  const groups = OVERHEAD_FRAMEWORKS.map((name) => {
    const { ways } = frameworkGroup(name)
    return {
      name,
      ways: (name === 'node' ? ways : ways.slice(0, 2)).map(({ cell, way }) => ({
        way,
        // On a busy machine a cold program may take seconds for one response per connection.
        cell: { ...cell, connections: 4, warmupMs: 20, warmupRequests: 0 },
      })),
    }
  })
  const driver = await createStartgridDriver({})
  const measured = await measureOverhead({
    groups,
    heats: 1,
    slices: 3,
    sliceMs: 20,
    seed: 1,
    nginx: undefined,
    cores: null,
    driver,
    signal: new AbortController().signal,
    onProgress() {},
  }).finally(() => driver.stop())
  const judged = judgeOverhead(
    [...measured].map(([{ name, ways }, heats]) => ({ name, heats, cells: ways.map(({ cell }) => cell) })),
  )
  assert.deepEqual(judged.failures, [])
  for (const { name, ratio } of judged.groups) assert.ok((ratio('bare', 'headers')?.value ?? 0) > 0, name)
})
