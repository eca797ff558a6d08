import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRandom } from '@startgrid/stats/random.ts'
import { shareOf } from '../src/engine/generator-team.ts'
import { poisson } from '../src/engine/poisson.ts'
import { coresFor, exactly, GeneratorTeam, startGenerator, startTeam } from '../src/index.ts'
import { decode } from '../src/report/histogram.ts'
import { noErrors } from '../src/report/result.ts'
import { rawResponse, serve } from './raw-server.ts'

/** For all tests that do not end it. */
let team: GeneratorTeam
before(async () => {
  team = await startTeam([undefined, undefined])
})
after(() => team.stop())

test('counts are exact sums, and percentiles are of the merged histogram', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const expect = { body: exactly('hi'), checkEvery: 1 }
  const result = await team.run({ target: server.target, path: '/', connections: 3, durationMs: 50, expect })
  const { requests } = server
  assert.ok(requests >= 3)
  assert.equal(server.connections, 3)
  assert.deepEqual([result.requests, result.checked, result.errors], [requests, requests, noErrors()])
  assert.deepEqual(result.statuses, { 200: requests })
  const histogram = decode(result.histograms.latency)
  assert.equal(histogram.totalCount, requests)
  assert.equal(result.latency.p50, Math.min(histogram.getValueAtPercentile(50) / 1e6, result.latency.max))
})

test('in open loop, all that is due is sent, as by one process', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const plan = { target: server.target, path: '/', connections: 8, rate: 1_000, durationMs: 200 }
  const { requests, openLoop, errors } = await team.run({ ...plan, timeoutMs: 20_000 })
  const due = [1, 2].reduce((sum, seed) => {
    const next = poisson(500, createRandom(seed))
    let count = 0
    while (next() < 200) count++
    return sum + count
  }, 0)
  assert.deepEqual([requests, server.requests, errors], [due, due, noErrors()])
  assert.equal(Math.round(openLoop?.offered ?? 0), Math.round(due / 0.2))
})

test('all connections are open before the first request, and still open after the last response', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const seen: { phase: string; connections: number; requests: number }[] = []
  const { requests } = await team.run({
    ...{ target: server.target, path: '/', connections: 4, durationMs: 50 },
    onPhase: async (phase) => {
      // A client may know of a connection before this process does.
      while ((await server.open()) < 4) await nextTurn()
      seen.push({ phase, connections: await server.open(), requests: server.requests })
    },
  })
  assert.deepEqual(seen, [
    { phase: 'open', connections: 4, requests: 0 },
    { phase: 'responded', connections: 4, requests },
  ])
})

test('a generator that dies is named, and the others end', async () => {
  const generators = await Promise.all([startGenerator(), startGenerator()])
  const dying = new GeneratorTeam(generators, true)
  const [first, { pid }] = generators
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 50) process.kill(pid, 'SIGKILL')
  })
  const plan = { target: server.target, path: '/', connections: 2, durationMs: 60_000 }
  await assert.rejects(
    dying.run(plan),
    /^LoadError: The generator process \d+ has ended \(signal SIGKILL\)\.$/,
  )
  assert.ok((await first.run({ ...plan, durationMs: 50 })).requests > 0)
  await dying.stop()
})

test('an aborted load keeps what was measured', async () => {
  const stop = new AbortController()
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 100) stop.abort()
  })
  const plan = { target: server.target, path: '/', connections: 2, durationMs: 60_000, signal: stop.signal }
  assert.ok((await team.run(plan)).requests > 0)
})

test('a team of which one cannot start is no team', {
  skip: process.platform !== 'linux' && 'it needs taskset',
}, async () => {
  await assert.rejects(
    startTeam([0, 4096]),
    /^LoadError: The generator process \d+ has ended \(exit code 1\)/,
  )
})

test('each has a core of its own, or none has', () => {
  const cores = coresFor(1)
  for (let size = 2; cores[0] !== undefined && size < 1_000; size++) {
    const more = coresFor(size)
    assert.equal(more.length, size)
    if (more.includes(undefined)) assert.deepEqual(new Set(more), new Set([undefined]))
    else assert.equal(new Set(more).size, size)
  }
})

test('a load is shared fairly: nothing is lost, and no two parts differ by more than one connection', () => {
  const plan = {
    target: { socketPath: '/s' },
    path: '/',
    connections: 10,
    durationMs: 50,
    rate: 1_000,
    seed: 7,
  }
  const shares = [0, 1, 2, 3].map((n) => shareOf(plan, n, 4))
  assert.deepEqual(
    shares.map((part) => [part.connections, part.rate, part.seed, part.durationMs]),
    [
      [3, 250, 7, 50],
      [3, 250, 8, 50],
      [2, 250, 9, 50],
      [2, 250, 10, 50],
    ],
  )
})
