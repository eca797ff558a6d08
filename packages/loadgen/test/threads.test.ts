import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ThreadTeam } from '../src/engine/thread-team.ts'
import { exactly, type LoadResult, type Progress, runLoad, startGenerator } from '../src/index.ts'
import { rawResponse, serve } from '../src/instrument/faults/raw-server.ts'
import { noErrors } from '../src/report/result.ts'

const PLAN = { path: '/', connections: 7, threads: 3 }

/** For all tests that do not start their own. */
const team = new ThreadTeam()
after(() => team.close())

function sumOf(result: LoadResult, pick: (thread: LoadResult['threads'][number]) => number): number {
  return result.threads.reduce((sum, thread) => sum + pick(thread), 0)
}

test('threads share connections and requests, and their responses add up', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const expect = { body: exactly('hi'), checkEvery: 1 }
  const result = await runLoad({ ...PLAN, target: server.target, requests: 100, expect })
  assert.deepEqual(result.errors, noErrors())
  assert.deepEqual([server.connections, server.requests], [7, 100])
  assert.deepEqual([result.requests, result.checked], [100, 100])
  assert.deepEqual(
    result.threads.map(({ requests }) => requests),
    [34, 33, 33],
  )
  assert.equal(result.bytes, 100 * rawResponse('hi').length)
  assert.equal(result.openLoop, null)
})

test('threads share a rate: at a constant one exactly its requests are due', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const load = { ...PLAN, target: server.target, rate: 600, durationMs: 200, seriesMs: 50 }
  const result = await runLoad({ ...load, arrivals: 'constant' }, team)
  assert.deepEqual([server.requests, result.requests], [120, 120])
  assert.equal(Math.round(result.openLoop?.offered ?? 0), 600)
  for (const { openLoop } of result.threads) assert.equal(Math.round(openLoop?.offered ?? 0), 200)
  assert.equal(
    result.series.reduce((sum, { requests }) => sum + requests, 0),
    120,
  )
})

test('threads do not draw the same arrivals', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const result = await runLoad({ ...PLAN, target: server.target, rate: 3_000, durationMs: 200 }, team)
  assert.equal(
    sumOf(result, ({ requests }) => requests),
    result.requests,
  )
  assert.ok(new Set(result.threads.map(({ requests }) => requests)).size > 1)
})

test('a generator process keeps its threads, and runs loads of one thread between', async (t) => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const generator = await startGenerator()
  t.after(() => generator.stop())
  for (const threads of [3, 1, 2]) {
    const result = await generator.run({ ...PLAN, target: server.target, threads, requests: 50 })
    assert.equal(result.requests, 50)
    assert.equal(result.threads.length, threads)
  }
  assert.equal(server.requests, 150)
})

test('an abort reaches all threads, before they start and after', async () => {
  const stop = new AbortController()
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 200) stop.abort()
  })
  const load = { ...PLAN, target: server.target, durationMs: 60_000 }
  const result = await runLoad({ ...load, signal: stop.signal })
  assert.ok(result.requests > 0 && result.seconds < 60)
  const none = await runLoad({ ...load, signal: AbortSignal.abort() })
  assert.equal(none.requests, 0)
})

test('progress is that of all threads', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const stop = new AbortController()
  const told: Progress[] = []
  const onProgress = (progress: Progress) => {
    told.push(progress)
    if (told.length === 6) stop.abort()
  }
  await runLoad({ ...PLAN, target: server.target, durationMs: 60_000, onProgress, signal: stop.signal }, team)
  const [first, last] = [told[0], told.at(-1)]
  assert.ok(first !== undefined && last !== undefined)
  assert.ok(last.requests >= first.requests && last.requests > 0)
  assert.ok(last.done > 0 && last.done < 1 && !last.warmingUp)
})

test('a thread that cannot run its part refuses with a sentence, and can run the next', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const load = { ...PLAN, target: server.target, requests: 30 }
  // What runLoad would not have let pass.
  await assert.rejects(
    team.run({ ...load, path: 'no path' }, server.target),
    /^LoadError: The path "no path" must begin with/,
  )
  const measured = await team.run(load, server.target)
  assert.deepEqual(
    measured.map(({ requests }) => requests),
    [10, 10, 10],
  )
})
