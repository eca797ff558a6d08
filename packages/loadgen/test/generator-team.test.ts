import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { exactly } from '../src/expectation.ts'
import { LoadError } from '../src/plan.ts'
import { countsOf, percentiles } from '../src/recording.ts'
import { noErrors } from '../src/result.ts'
import { coresFor, type GeneratorTeam, shareOf, startTeam } from '../src/team.ts'
import { dueWithin, rawResponse, serve } from './raw-server.ts'

const PLAN = { path: '/', connections: 4, durationMs: 50 }

const AT_ONCE = () => serve((socket) => socket.write(rawResponse('hi')))

/** For all tests that do not end one. */
let one: GeneratorTeam
let two: GeneratorTeam
before(async () => {
  ;[one, two] = await Promise.all([startTeam([undefined]), startTeam([undefined, undefined])])
})
after(() => Promise.all([one.stop(), two.stop()]))

test('processes serve several loads, one after the other, and end when they are told', async () => {
  await using server = await AT_ONCE()
  const team = await startTeam([0])
  const load = { ...PLAN, target: server.target }
  let requests = 0
  for (let slice = 0; slice < 3; slice++) requests += (await team.run(load)).requests
  assert.equal(requests, server.requests)
  const first = team.run(load)
  await assert.rejects(team.run(load), LoadError)
  await first
  const { pids } = team
  await team.stop()
  await team.stop()
  assert.deepEqual(pids.map(isAlive), [false])
})

test('counts of several are exact sums, and percentiles are of the merged histogram', async () => {
  await using server = await AT_ONCE()
  const expect = { body: exactly('hi'), checkEvery: 1 }
  const result = await two.run({ ...PLAN, target: server.target, connections: 3, expect })
  const { requests } = server
  assert.ok(requests >= 3)
  assert.equal(server.connections, 3)
  assert.deepEqual([result.requests, result.checked, result.errors], [requests, requests, noErrors()])
  assert.deepEqual(result.statuses, { 200: requests })
  const { latency, histograms } = result
  assert.equal(
    countsOf(histograms.latency).reduce((sum, { count }) => sum + count, 0),
    requests,
  )
  assert.deepEqual(
    percentiles(histograms.latency, [50]).map((p50) => Math.min(p50, latency.max)),
    [latency.p50],
  )
})

test('in open loop, all that is due is sent, by one process as by several', async () => {
  for (const [team, due] of [
    [one, dueWithin(200, 1_000)],
    [two, dueWithin(200, 500, 1) + dueWithin(200, 500, 2)],
  ] as const) {
    await using server = await AT_ONCE()
    const load = { ...PLAN, target: server.target, rate: 1_000, durationMs: 200, timeoutMs: 20_000 }
    const { requests, openLoop, errors } = await team.run(load)
    assert.deepEqual([requests, server.requests, errors], [due, due, noErrors()])
    assert.equal(Math.round(openLoop?.offered ?? 0), Math.round(due / 0.2))
  }
})

test('all connections are open before the first request, and still open after the last response', async () => {
  for (const team of [one, two]) {
    await using server = await AT_ONCE()
    const seen: { phase: string; connections: number; requests: number }[] = []
    const { requests } = await team.run({
      ...{ ...PLAN, target: server.target },
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
  }
})

test('an aborted load keeps what was measured, and has no request if it waits', async () => {
  const stop = new AbortController()
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 100) stop.abort()
  })
  const load = { ...PLAN, target: server.target, durationMs: 60_000 }
  assert.ok((await two.run({ ...load, signal: stop.signal })).requests > 0)
  const early = new AbortController()
  const onPhase = async () => early.abort()
  assert.equal((await two.run({ ...load, signal: early.signal, onPhase })).requests, 0)
})

test('refusals arrive as sentences, and the next load runs', async () => {
  await using server = await AT_ONCE()
  const load = { ...PLAN, target: server.target }
  await assert.rejects(one.run({ ...load, path: 'x' }), /^LoadError: The path "x" must begin/)
  // What only a process can find.
  const elsewhere = { host: '8.8.8.8', port: 80 }
  await assert.rejects(one.run({ ...load, target: elsewhere }), /^LoadError: 8\.8\.8\.8 is a public/)
  assert.ok((await one.run(load)).requests > 0)
})

test('a process that dies is named, and the others end', async () => {
  const dying = await startTeam([undefined, undefined])
  const [, pid] = dying.pids
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 50 && pid !== undefined) process.kill(pid, 'SIGKILL')
  })
  const load = { ...PLAN, target: server.target, durationMs: 60_000 }
  const ended = /^LoadError: The generator process \d+ has ended \(signal SIGKILL\)\.$/
  await assert.rejects(dying.run(load), ended)
  await assert.rejects(dying.run(load), ended)
  await dying.stop()
})

test('if one cannot start, none is left', {
  skip: process.platform !== 'linux' && 'it needs taskset',
}, async () => {
  await assert.rejects(
    startTeam([0, 4096]),
    /^LoadError: The generator process \d+ has ended \(exit code 1\): taskset/,
  )
})

test('a process ends with its parent, even in the middle of a load', async () => {
  await using server = await AT_ONCE()
  const parent = `
    import { startTeam } from ${JSON.stringify(new URL('../src/team.ts', import.meta.url).href)}
    const team = await startTeam([undefined])
    team.run({ target: { host: '127.0.0.1', port: ${server.port} }, path: '/', connections: 4, durationMs: 60_000 })
    process.stdout.write(String(team.pids))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [pid] = await once(child.stdout, 'data')
  while (server.requests === 0) await sleep(5)
  child.kill('SIGKILL')
  while (isAlive(Number(pid))) await sleep(5)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('each has a physical core of its own, and so has the server', () => {
  const cpus = [0, 1, 2, 5, 6].map((number) => ({ number, siblings: [number, (number + 4) % 8], speed: 1 }))
  assert.deepEqual(coresFor(2, cpus), [1, 2])
  assert.throws(
    () => coresFor(3, cpus),
    /^LoadError: 3 processes and the server need a core each, and there are 3:/,
  )
  assert.deepEqual(coresFor(2, []), [undefined, undefined])
})

test('a load is shared fairly: nothing is lost, and no two parts differ by more than one connection', () => {
  const load = { ...PLAN, target: { socketPath: '/s' }, connections: 10, rate: 1_000, seed: 7 }
  const shares = [0, 1, 2, 3].map((n) => shareOf(load, n, 4))
  assert.deepEqual(
    shares.map(({ connections, rate, seed }) => [connections, rate, seed]),
    [
      [3, 250, 7],
      [3, 250, 8],
      [2, 250, 9],
      [2, 250, 10],
    ],
  )
})
