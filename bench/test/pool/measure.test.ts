import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { processTree } from '@startgrid/machine/processes.ts'
import { POOL_LIBRARIES } from '@startgrid/worker-pool/config.ts'
import { measurePool } from '../../src/pool/measure.ts'
import { PoolError } from '../../src/pool/pool-error.ts'
import type { PoolSettings } from '../../src/pool/settings.ts'

const SETTINGS: PoolSettings = {
  library: 'qoper8-cp',
  runtime: 'node',
  size: 2,
  messages: 3000,
  pace: { kind: 'in-flight', count: 32 },
  tasksPerWorker: 1,
}

const POOLS = (['node', 'bun'] as const).flatMap((runtime) =>
  POOL_LIBRARIES.map((library) => ({ runtime, library })),
)

/** Each is loaded with 23,000 messages: a short run tries one. */
for (const { runtime, library } of sample('pools', POOLS, 1)) {
  test(`${library} on ${runtime}: every message gets a response, by all workers`, async () => {
    const parts: number[] = []
    const result = await measurePool(
      { ...SETTINGS, library, runtime },
      { onProgress: (part) => parts.push(part) },
    )
    assert.equal(result.perWorker.length, 2)
    assert.equal(
      result.perWorker.reduce((sum, count) => sum + count),
      3000,
    )
    assert.ok(Math.abs(result.rate * result.seconds - 3000) < 0.001)
    assert.ok(result.mainBusy > 0)
    assert.ok(result.longestQueue <= 32)
    assert.equal(result.version, runtime === 'node' ? process.versions.node : result.version)
    assert.deepEqual(parts, [10_000 / 23_000, 20_000 / 23_000])
    if (process.platform !== 'linux') return
    assert.ok((result.cpuPerMessage ?? 0) > 0)
    assert.ok((result.foreign ?? -1) >= 0)
  })
}

test('in blocks the pause at the end is told', async () => {
  const { delayMs, longestQueue } = await measurePool({
    ...SETTINGS,
    pace: { kind: 'blocks', length: 500, delayMs: 50 },
  })
  assert.ok(delayMs !== null && delayMs >= 40)
  assert.ok(longestQueue >= 0)
})

test('what cannot be measured is one sentence', async () => {
  await assert.rejects(
    measurePool({ ...SETTINGS, library: 'piscina', tasksPerWorker: 0 }),
    (error) =>
      error instanceof PoolError &&
      /^piscina on node could not be measured: TypeError.*concurrentTasksPerWorker/.test(error.message),
  )
})

test('an interruption ends it at once, with all its processes', async () => {
  const interruption = new AbortController()
  let processes: number[] = []
  const measuring = measurePool(
    { ...SETTINGS, messages: 10_000_000 },
    {
      signal: interruption.signal,
      onProgress() {
        processes = processTree(process.pid).filter((pid) => pid !== process.pid)
        interruption.abort()
      },
    },
  )
  await assert.rejects(measuring, { name: 'AbortError' })
  if (process.platform === 'linux') assert.equal(processes.length, 3)
  await until(() => processes.every((pid) => !isAlive(pid)))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    if (condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('It never came true.')
}
