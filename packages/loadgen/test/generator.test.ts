import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { exactly, LoadError, type LoadGenerator, startGenerator } from '../src/index.ts'
import { noErrors } from '../src/report/result.ts'
import { rawResponse, serve } from './raw-server.ts'

const settings = { path: '/', connections: 4, durationMs: 50 }

/** For all tests that do not end it. */
let generator: LoadGenerator
before(async () => {
  generator = await startGenerator()
})
after(() => generator.stop())

test('one process serves several loads, one after the other', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const generator = await startGenerator({ cpu: 0 })
  let requests = 0
  for (let slice = 0; slice < 3; slice++) {
    const expect = { body: exactly('hi'), checkEvery: 1 }
    const result = await generator.run({ ...settings, target: server.target, expect })
    assert.deepEqual(result.errors, noErrors())
    assert.equal(result.checked, result.requests)
    requests += result.requests
  }
  assert.equal(requests, server.requests)
  const first = generator.run({ ...settings, target: server.target })
  await assert.rejects(generator.run({ ...settings, target: server.target }), LoadError)
  await first
  await generator.stop()
  await generator.stop()
  assert.throws(() => process.kill(generator.pid, 0))
})

test('its refusals arrive as sentences, and it goes on', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  await assert.rejects(
    generator.run({ ...settings, target: server.target, connections: 0 }),
    /^LoadError: connections is 0, but must be/,
  )
  assert.ok((await generator.run({ ...settings, target: server.target })).requests > 0)
})

test('a load whose process dies is rejected with a sentence', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using server = await serve((socket) => {
    socket.write(rawResponse('hi'))
    resolve()
  })
  const generator = await startGenerator()
  const load = generator.run({ ...settings, target: server.target, durationMs: 60_000 })
  void promise.then(() => process.kill(generator.pid, 'SIGKILL'))
  await assert.rejects(load, /^LoadError: The generator process \d+ has ended \(signal SIGKILL\)\.$/)
  await assert.rejects(generator.run({ ...settings, target: server.target }), /has ended \(signal SIGKILL\)/)
  await generator.stop()
})

test('a core that does not exist is a sentence', { skip: process.platform !== 'linux' }, async () => {
  await assert.rejects(
    startGenerator({ cpu: 4096 }),
    /^LoadError: The generator process \d+ has ended \(exit code 1\): taskset/,
  )
})

test('the process ends with its parent, even in the middle of a load', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const parent = `
    import { startGenerator } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
    const generator = await startGenerator()
    generator.run({ target: { host: '127.0.0.1', port: ${server.port} }, path: '/', connections: 4, durationMs: 60_000 })
    console.log(generator.pid)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [pid] = await once(child.stdout, 'data')
  while (server.requests === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  child.kill('SIGKILL')
  while (isAlive(Number(pid))) await new Promise((resolve) => setTimeout(resolve, 5))
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a load waits when all connections are open, and with its last response before they close', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const seen: { phase: string; connections: number; requests: number }[] = []
  const result = await generator.run({
    ...settings,
    target: server.target,
    onPhase: async (phase) => {
      // The client may know of a connection before this process does.
      while ((await server.open()) < settings.connections) await nextTurn()
      seen.push({ phase, connections: await server.open(), requests: server.requests })
    },
  })
  assert.deepEqual(seen, [
    { phase: 'open', connections: 4, requests: 0 },
    { phase: 'responded', connections: 4, requests: result.requests },
  ])
  assert.ok(result.requests > 0)
  assert.deepEqual(result.errors, noErrors())
})

test('a load that is aborted while it waits ends without a request', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const abort = new AbortController()
  const { requests } = await generator.run({
    ...settings,
    target: server.target,
    signal: abort.signal,
    onPhase: async () => abort.abort(),
  })
  assert.equal(requests, 0)
})
