import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { LoadError } from '@startgrid/loadgen/plan.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { LastingGenerator } from '../../src/load/generator.ts'

let asked = 0
let onAsked = (): void => {}
const server = createServer((_request, response) => {
  asked++
  onAsked()
  response.end('Hello World!')
})
let target: Target
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  target = { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 }
})
after(() => server.close().closeAllConnections())

const planOf = (durationMs: number) => ({ target, path: '/', connections: 4, durationMs })

test('its process is named, replaced if it dies, and gone after stop', async (t) => {
  const generator = new LastingGenerator([undefined])
  t.after(() => generator.stop())
  assert.equal(await generator.responseLength({ target, path: '/' }), 12)
  await generator.start()
  const [first] = generator.pids()
  assert.ok(first)
  const running = generator.run(planOf(60_000))
  process.kill(first, 'SIGKILL')
  await assert.rejects(running, LoadError)
  assert.ok((await generator.run(planOf(700))).requests > 0)
  const [second] = generator.pids()
  assert.ok(second && second !== first)
  await generator.stop()
  assert.throws(() => process.kill(second, 0), { code: 'ESRCH' })
  assert.deepEqual(generator.pids(), [])
})

test('a slice says what it measured and what that cost, also if it is ended early', async (t) => {
  const generator = new LastingGenerator([undefined])
  t.after(() => generator.stop())
  const abortion = new AbortController()
  asked = 0
  onAsked = () => {
    if (asked > 100) abortion.abort()
  }
  const slice = await generator.run({ ...planOf(60_000), signal: abortion.signal })
  assert.ok(slice.requests > 0 && slice.seconds < 60)
  assert.deepEqual(slice.errors, {})
  assert.ok((slice.bytes ?? 0) > 'Hello World!'.length, 'headers count')
})

test('several processes offer one load, and no more of them than there are connections', async (t) => {
  const generator = new LastingGenerator([undefined, undefined])
  t.after(() => generator.stop())
  for (const connections of [4, 1]) {
    const { requests, errors } = await generator.run({ ...planOf(700), connections })
    assert.ok(requests > 0)
    assert.deepEqual(errors, {})
  }
  assert.equal(generator.pids().length, 2)
})
