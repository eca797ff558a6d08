import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  exactly,
  GeneratorTeam,
  type LoadGenerator,
  mergeHistograms,
  percentiles,
  startGenerator,
  VoidLoadError,
} from '../src/index.ts'
import { decode } from '../src/report/histogram.ts'
import { rawResponse, serve } from './raw-server.ts'

const CHILD = fileURLToPath(new URL('child-with-other-clock.ts', import.meta.url))

/** Two with the same clock, for all tests. */
let first: LoadGenerator
let second: LoadGenerator
before(async () => {
  ;[first, second] = await Promise.all([startGenerator(), startGenerator()])
})
after(() => Promise.all([first.stop(), second.stop()]))

/** The first one and another one. */
function teamWith(other: LoadGenerator): GeneratorTeam {
  return new GeneratorTeam([
    { name: 'generator 1', generator: first },
    { name: 'generator 2', generator: other },
  ])
}

/** One whose clock is ahead by these milliseconds, and which gets messages late; ended with the block. */
async function startOther({ offsetMs = 0, delayMs = 0 } = {}) {
  const generator = await startGenerator({
    command: [process.execPath, CHILD, String(offsetMs), String(delayMs)],
  })
  return { generator, [Symbol.asyncDispose]: () => generator.stop() }
}

test('counts are exact sums, and percentiles are of the merged histogram', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const team = teamWith(second)
  const expect = { body: exactly('hi'), checkEvery: 1 }
  const plan = { target: server.target, path: '/', connections: 3, durationMs: 50, expect }
  let before = 0
  const result = await untilInTime(() => {
    before = server.requests
    return team.run(plan)
  })
  const requests = server.requests - before
  assert.ok(requests >= 3)
  assert.equal(result.requests, requests)
  assert.equal(result.checked, requests)
  assert.deepEqual(result.statuses, { 200: requests })
  assert.equal(decode(result.histograms.latency).totalCount, requests)
  const [p50] = percentiles(mergeHistograms([result.histograms.latency]), [50])
  assert.equal(result.latency.p50, Math.min(p50 ?? 0, result.latency.max))
})

for (const offsetMs of [5, 5_000]) {
  test(`a clock that is ahead by ${offsetMs} ms is found, and all begin together`, async () => {
    let order: string[] = []
    await using server = await serve((socket) => {
      if (order.at(-1) === 'open') order.push('request')
      socket.write(rawResponse('hi'))
    })
    await using ahead = await startOther({ offsetMs })
    const team = teamWith(ahead.generator)
    const [one, other] = await Promise.all([first.compareClocks(5), ahead.generator.compareClocks(5)])
    const difference = other.offsetMs - one.offsetMs
    const margin = one.uncertaintyMs + other.uncertaintyMs
    assert.ok(Math.abs(difference - offsetMs) <= margin, `${difference} ms, known to ±${margin} ms`)
    const onPhase = async (phase: string) => {
      order = phase === 'open' ? ['open'] : [...order, phase]
    }
    const plan = { target: server.target, path: '/', connections: 2, durationMs: 50, onPhase }
    // A busy machine may make one of them late: that is another test.
    await untilInTime(() => team.run(plan))
    assert.deepEqual(order, ['open', 'request', 'responded'])
  })
}

test('a generator that begins late is named, and the next load counts again', async (t) => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const team = teamWith(second)
  const plan = { target: server.target, path: '/', connections: 2, durationMs: 50 }
  const compare = second.compareClocks.bind(second)
  // As if its clock were behind by a second: it begins at once when told, which is a second late.
  const behind = t.mock.method(second, 'compareClocks', async (n: number) => {
    const offset = await compare(n)
    return { ...offset, offsetMs: offset.offsetMs - 1000 }
  })
  const late = /^VoidLoadError: Generator 2 began \d+\.\d ms after the agreed time\.$/
  const knowsClocks = async () => {
    const reason = await team.run(plan).catch(String)
    if (/clock/.test(String(reason))) throw new VoidLoadError(String(reason))
    return reason
  }
  assert.match(String(await untilInTime(knowsClocks)), late)
  const healthy = teamWith(second)
  behind.mock.restore()
  assert.ok((await untilInTime(() => healthy.run(plan))).requests > 0)
})

test('a clock that cannot be compared well enough is refused by name', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  await using slow = await startOther({ delayMs: 30 })
  await assert.rejects(
    teamWith(slow.generator).run({ target: server.target, path: '/', connections: 2, durationMs: 50 }),
    /^VoidLoadError: The clock of generator 2 is known to ±\d+\.\d ms only, but must be to ±5 ms\.$/,
  )
})

test('a generator that dies is named, and the others end', async () => {
  await using dying = await startOther()
  const team = teamWith(dying.generator)
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 50) process.kill(dying.generator.pid, 'SIGKILL')
  })
  const plan = { target: server.target, path: '/', connections: 2, durationMs: 60_000 }
  await assert.rejects(
    untilInTime(() => team.run(plan)),
    /^LoadError: Generator 2: The generator process \d+ has ended \(signal SIGKILL\)\.$/,
  )
  const alone = { target: server.target, path: '/', connections: 1, durationMs: 50 }
  assert.ok((await first.run(alone)).requests > 0)
})

test('an aborted load keeps what was measured', async () => {
  const stop = new AbortController()
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 100) stop.abort()
  })
  const team = teamWith(second)
  const plan = { target: server.target, path: '/', connections: 2, durationMs: 60_000, signal: stop.signal }
  assert.ok((await untilInTime(() => team.run(plan))).requests > 0)
})

/** What a busy machine disturbed is tried again: up to twenty times. */
async function untilInTime<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let left = 20; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof VoidLoadError) || left === 0) throw error
    }
  }
}
