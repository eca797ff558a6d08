import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { exactly } from '../src/expectation.ts'
import { noErrors } from '../src/result.ts'
import { coresFor, shareOf, startTeam } from '../src/team.ts'
import { AT_ONCE, serve } from './raw-server.ts'

const PLAN = { path: '/', connections: 3, durationMs: 50, timeoutMs: 20_000 }

test('several processes offer one load: counts are exact, and connections are open from before it to after it', async () => {
  const team = await startTeam([undefined, undefined])
  await using server = await serve(AT_ONCE)
  const seen: { phase: string; connections: number; requests: number }[] = []
  const { requests, checked, errors, statuses, latency } = await team.run({
    ...PLAN,
    target: server.target,
    rate: 1_000,
    expect: { body: exactly('hi'), checkEvery: 1 },
    onPhase: async (phase) => {
      // A client may know of a connection before this process does.
      while ((await server.open()) < 3) await nextTurn()
      seen.push({ phase, connections: await server.open(), requests: server.requests })
    },
  })
  assert.ok(requests > 0 && latency.max > 0)
  assert.deepEqual([requests, checked, errors], [server.requests, requests, noErrors()])
  assert.deepEqual(statuses, { 200: requests })
  assert.deepEqual(seen, [
    { phase: 'open', connections: 3, requests: 0 },
    { phase: 'responded', connections: 3, requests },
  ])
  // One that is aborted keeps what was measured and ends the schedule, and has no request if it waits.
  const early = new AbortController()
  const plan = { ...PLAN, target: server.target, durationMs: 600_000 }
  const onPhase = async () => early.abort()
  assert.equal((await team.run({ ...plan, signal: early.signal, onPhase })).requests, 0)
  const stop = new AbortController()
  const running = team.run({ ...plan, rate: 1_000, signal: stop.signal })
  while (server.requests < requests + 100) await nextTurn()
  stop.abort()
  const part = await running
  assert.ok(part.requests > 0 && part.requests <= server.requests - requests && part.seconds < 300)
  assert.deepEqual(part.errors, noErrors())
  // A process that dies is named, and the other ends. The next load has a new one.
  const [first, second = assert.fail()] = team.pids
  const dying = team.run(plan)
  process.kill(second, 'SIGKILL')
  await assert.rejects(dying, /^LoadError: The generator process \d+ has ended \(signal SIGKILL\)\.$/)
  assert.ok((await team.run({ ...plan, durationMs: 100 })).requests > 0)
  assert.equal(team.pids[0], first)
  assert.notEqual(team.pids[1], second)
  await team.stop()
})

test('one process serves several loads, one after the other, refuses what cannot be sent, and ends when it is told', async () => {
  await using server = await serve(AT_ONCE)
  const team = await startTeam([0])
  const load = { ...PLAN, target: server.target }
  await assert.rejects(team.run({ ...load, path: 'x' }), /^LoadError: The path "x" must begin/)
  // What only a process can find.
  const elsewhere = { host: '8.8.8.8', port: 80 }
  await assert.rejects(team.run({ ...load, target: elsewhere }), /^LoadError: 8\.8\.8\.8 is a public/)
  assert.equal((await team.run({ ...load, signal: AbortSignal.abort() })).requests, 0)
  const { requests } = await team.run(load)
  assert.ok(requests > 0)
  const second = team.run(load)
  await assert.rejects(team.run(load), /^LoadError: The generator runs one load at a time/)
  assert.equal(requests + (await second).requests, server.requests)
  const { pids } = team
  await team.stop()
  await team.stop()
  assert.deepEqual(pids.map(isAlive), [false])
})

test('if one cannot start, none is left', {
  skip: process.platform !== 'linux' && 'it needs taskset',
}, async () => {
  await assert.rejects(
    startTeam([0, 4096]),
    /^LoadError: The generator process \d+ has ended \(exit code 1\): taskset/,
  )
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
  const told = shares.map(({ connections, rate, seed }) => `${connections} at ${rate} by ${seed}`)
  assert.deepEqual(told, ['3 at 250 by 7', '3 at 250 by 8', '2 at 250 by 9', '2 at 250 by 10'])
})
