import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { exactly, LoadError } from '@startgrid/loadgen'
import { createDriver } from '../../src/drivers/create.ts'
import type { Driver, SlicePlan } from '../../src/drivers/driver.ts'
import { wrkVersion } from '../../src/drivers/wrk.ts'
import { type BehavingServer, BODY, DELAY_MS, startServer } from './behaving-server.ts'

const CONNECTIONS = 8
const LINUX = process.platform === 'linux'

const missing = await wrkVersion().then(
  () => false as const,
  (error: LoadError) => error.message,
)

function planAt(server: BehavingServer, path: string, more: Partial<SlicePlan> = {}): SlicePlan {
  const { target } = server
  return { target, path, connections: CONNECTIONS, durationMs: 700, expect: { body: exactly(BODY) }, ...more }
}

/** It stops when the test ends: its process would keep the test file running, also after a failure. */
async function startDriver(t: TestContext, starting: Promise<Driver>): Promise<Driver> {
  const driver = await starting
  t.after(() => driver.stop())
  return driver
}

/** What all of them must do, against a server that responds after a constant delay. */
function describeDriver(name: Driver['name']): void {
  describe(`the ${name} driver`, { concurrency: 1, skip: name === 'wrk' && missing }, () => {
    let driver: Driver
    let server: BehavingServer
    const planOf = (path: string, more?: Partial<SlicePlan>) => planAt(server, path, more)
    before(async () => {
      server = await startServer()
      driver = await createDriver(name, { cpu: undefined })
    })
    after(async () => {
      await driver.stop()
      server.stop()
    })

    test('counts what the server counts, and measures the built-in delay', async () => {
      assert.equal(driver.name, name)
      const before = server.requests()
      // Of 700 ms a generator on a busy machine may miss all.
      const load = await driver.run(planOf('/', { durationMs: 3000 }))
      const asked = server.requests() - before
      assert.deepEqual(load.errors, {})
      assert.ok(load.requests > 0 && load.requests <= asked, `${load.requests} of ${asked}`)
      // What it may drop: a request per connection at the beginning and at the end.
      assert.ok(load.requests >= asked - 2 * CONNECTIONS, `${load.requests} of ${asked}`)
      assert.ok(Math.abs(load.rate - load.requests / load.seconds) < 1e-6)
      const { mean, p50, p99 } = load.latencySeconds
      assert.ok(mean >= (DELAY_MS - 1) / 1000 && mean < 30, `mean ${mean}`)
      assert.ok(p50 >= (DELAY_MS - 1) / 1000 && p50 <= p99, `p50 ${p50}, p99 ${p99}`)
    })

    test("obeys Little's law: rate × mean latency is about the number of connections", async () => {
      const { rate, latencySeconds } = await driver.run(planOf('/'))
      const inFlight = rate * latencySeconds.mean
      // How exact it is depends on how long the generator had no core. A wrong unit or a double count is more than a factor of two.
      assert.ok(inFlight > 0 && inFlight < 2 * CONNECTIONS, `${inFlight} in flight`)
    })

    /** The part of the requests that fail, all in that way. On a busy machine one load has too few. */
    const failing = async (path: string, kind: 'status' | 'reset') => {
      let asked = 0
      let failed = 0
      for (let load = 0; load < 20 && asked < 50; load++) {
        const { requests, errors } = await driver.run(planOf(path))
        const { [kind]: found = 0, ...others } = errors
        assert.deepEqual(others, {})
        failed += found
        // A wrong status is that of a response.
        asked += kind === 'status' ? requests : requests + found
      }
      return failed / asked
    }

    test('names unexpected statuses, and counts them as responses', async () => {
      const part = await failing('/fifth-500', 'status')
      assert.ok(part > 0.1 && part < 0.3, `${part} of the responses`)
    })

    for (const path of ['/fifth-resets', '/fifth-closes']) {
      test(`names connections that end before the response: ${path}`, async () => {
        const part = await failing(path, 'reset')
        assert.ok(part > 0.1 && part < 0.35, `${part} of the requests`)
      })
    }

    test('finds wrong bodies of the right length, inside the slice or before it', async () => {
      const plan = planOf('/wrong', { expect: { body: exactly(BODY), checkEvery: 1 } })
      const [checked, load] = [await driver.check(plan), await driver.run(plan)]
      const { errors } = driver.name === 'startgrid' ? load : checked
      assert.deepEqual((await driver.check(planOf('/'))).errors, {})
      assert.ok((errors.body ?? 0) > 0, JSON.stringify({ checked, load }))
      assert.equal(load.checked > 0, driver.name === 'startgrid')
    })

    test('accounts for the generator', { skip: !LINUX && 'only Linux tells' }, async () => {
      const { generator, seconds } = await driver.run(planOf('/'))
      assert.ok(
        generator.cpuSeconds !== null && generator.cpuSeconds > 0 && generator.cpuSeconds < 2 * seconds,
      )
      assert.ok(generator.waitSeconds !== null && generator.waitSeconds >= 0)
      // The others wait in the kernel, so CPU time that they lack says nothing.
      assert.equal(generator.pollingSeconds, name === 'startgrid' ? seconds : undefined)
    })

    test('ends early on request, and keeps what it measured', async () => {
      const abortion = new AbortController()
      setTimeout(() => abortion.abort(), 400)
      const load = await driver.run(planOf('/', { durationMs: 60_000, signal: abortion.signal }))
      assert.ok(load.requests > 0 && load.seconds < 60, `${load.requests} in ${load.seconds} s`)
    })

    test('works again after a load that could not be offered', async () => {
      const nobody = { host: '127.0.0.1', port: 1 }
      const errors = await driver.run(planOf('/', { target: nobody })).then(
        (load) => load.errors.connect ?? 0,
        (error: unknown) => (error instanceof LoadError ? 1 : 0),
      )
      assert.ok(errors > 0)
      assert.ok((await driver.run(planOf('/'))).requests > 0)
    })
  })
}

describe('what all drivers do', { concurrency: 3 }, () => {
  // A short run tries one of the drivers of others.
  for (const name of ['startgrid', ...sample('drivers', ['wrk', 'autocannon'] as const, 1)] as const)
    describeDriver(name)
})

describe('what some drivers do', { concurrency: 4 }, () => {
  let server: BehavingServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  for (const name of ['startgrid', 'autocannon'] as const) {
    test(`the process of ${name} is named, replaced if it dies, and gone after stop`, async (t) => {
      const driver = await startDriver(t, createDriver(name, { cpu: undefined }))
      const [first = 0] = driver.pids()
      const running = driver.run(planAt(server, '/', { durationMs: 60_000 }))
      process.kill(first, 'SIGKILL')
      await assert.rejects(running, LoadError)
      assert.ok((await driver.run(planAt(server, '/'))).requests > 0)
      const [second = 0] = driver.pids()
      assert.notEqual(second, first)
      await driver.stop()
      assert.throws(() => process.kill(second, 0), { code: 'ESRCH' })
      assert.deepEqual(driver.pids(), [])
    })

    test(`${name} counts requests that get no response in time`, async (t) => {
      const driver = await startDriver(t, createDriver(name, { cpu: undefined }))
      const load = await driver.run(planAt(server, '/never', { timeoutMs: 1000, durationMs: 1600 }))
      assert.deepEqual(Object.keys(load.errors), ['timeout'])
      // On a busy machine autocannon ends before all its connections have given up as often.
      if (name === 'startgrid') assert.equal((load.errors.timeout ?? 0) % CONNECTIONS, 0)
      assert.equal(load.requests, 0)
    })
  }

  test('wrk cannot see that a request never gets a response', { skip: missing }, async (t) => {
    const driver = await startDriver(t, createDriver('wrk', { cpu: undefined }))
    const load = await driver.run(planAt(server, '/never', { timeoutMs: 1000, durationMs: 1600 }))
    assert.deepEqual([load.requests, load.errors], [0, {}])
  })

  for (const name of ['wrk', 'autocannon'] as const) {
    test(`${name} refuses what it cannot do, in a sentence`, {
      skip: name === 'wrk' && missing,
    }, async (t) => {
      const driver = await startDriver(t, createDriver(name, { cpu: undefined }))
      const socket = planAt(server, '/', { target: { socketPath: '/tmp/some.sock' } })
      await assert.rejects(driver.run(socket), {
        name: 'LoadError',
        message: /unix sockets: only our own generator can/,
      })
      await assert.rejects(driver.run(planAt(server, '/{int:1-9}')), {
        name: 'LoadError',
        message: /random paths/,
      })
    })
  }
})

test('a driver that is not installed says what would help', async () => {
  const path = process.env.PATH
  process.env.PATH = '/nowhere'
  try {
    await assert.rejects(createDriver('wrk', { cpu: undefined }), {
      name: 'LoadError',
      message: /install wrk/,
    })
  } finally {
    process.env.PATH = path
  }
})
