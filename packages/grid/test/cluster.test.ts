import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { exactly, type LoadResult, runLoad, sumErrors } from '@startgrid/loadgen'
import { type App, findApps } from '../src/apps.ts'
import { type Launch, LaunchError, launch } from '../src/launcher.ts'
import { askOnEach, askOnNewOnes } from './client.ts'
import { conforms } from './conformance.ts'

/** Apps as several processes: the contract holds, and what happens to one worker does not touch the others. */

const WAYS = process.platform === 'linux' ? ['cluster', 'reuse-port'] : ['cluster']
const CONNECTIONS = 32
/** Clients with a new connection for each request. */
const NEW_AT_ONCE = 4
const LIMIT = { timeout: 180_000 }
const JSON_BODY = '{"hello":"world"}'

for (const way of WAYS) {
  // Both share all but who accepts a connection.
  describe(way === 'cluster' ? way : `full: ${way}`, () => {
    for (const app of findApps('fastify/hello')) {
      test(`${app.name} keeps the contract`, async (t) => {
        const launched = await launchWorkers(t, app, way, 2)
        await conforms(app, { target: launched.target }).finally(() => launched.stop())
        assert.ok(sharesIn(launched).every(({ served }) => served && served.requests > 0))
      })
    }

    for (const app of findApps('express/hello')) {
      test('a worker is killed: it alone loses what it had in flight', async (t) => {
        const launched = await launchWorkers(t, app, way, 3)
        const { errors, requests } = await loadWhile(launched, () => signalOne(launched, 'SIGKILL'))
        assert.equal(await launched.stop(), 0, launched.output())
        assert.ok(requests > CONNECTIONS)
        assert.ok(errors.reset > 0, 'it had no connections')
        // Node's primary never takes back a connection that it was just handing to a worker which was killed: at most one, and it hangs.
        if (way === 'cluster' && errors.timeout === 1) errors.timeout = 0
        assert.equal(sumErrors(errors), errors.reset, JSON.stringify(errors))
        // Each connection that broke was opened again, with one of the others. Had one of theirs broken, they would have had more
        // connections than there ever were.
        const taken = sharesIn(launched).reduce((sum, { served }) => sum + (served?.connections ?? 0), 0)
        assert.ok(taken <= CONNECTIONS, `${taken} connections`)
        assert.match(launched.output(), /"signal":"SIGKILL".*"msg":"worker ended"/)
      })

      test('a worker is told to stop: nothing is lost', LIMIT, async (t) => {
        const launched = await launchWorkers(t, app, way, 3)
        const { responses } = await askOnEach(CONNECTIONS, launched.target)
        let isOver = false
        // The kernel resets what waits to be accepted by a process that stops listening, so only node:cluster can lose no new connection.
        const others = Array.from({ length: way === 'cluster' ? NEW_AT_ONCE : 0 }, () =>
          askOnNewOnes(launched.target, () => isOver),
        )
        signalOne(launched, 'SIGTERM')
        const ended = await endedWorker(launched)
        isOver = true
        const counts = await Promise.all(others)
        assert.equal(await launched.stop(), 0, launched.output())
        assert.equal(ended.code, 0)
        // It had clients, or nothing would have been at risk.
        assert.ok(ended.served && ended.served.connections > 0)
        const asked = counts.reduce((sum, count) => sum + count, await responses)
        assert.equal(requestsOf([...sharesIn(launched), ended]), asked)
      })

      test('all are told to stop: nothing is lost, and their shares add up', LIMIT, async (t) => {
        const launched = await launchWorkers(t, app, way, 3)
        const { responses } = await askOnEach(CONNECTIONS, launched.target)
        assert.equal(await launched.stop(), 0, launched.output())
        const asked = await responses
        assert.ok(asked > CONNECTIONS)
        const shares = sharesIn(launched)
        assert.equal(requestsOf(shares), asked)
        assert.equal(shares.length, 3)
      })
    }
  })
}

test('Bun says that it cannot', async () => {
  const [bun] = findApps('bun/hello')
  assert.ok(bun)
  await assert.rejects(launch(bun, { env: { CLUSTER: 'cluster' } }), (error) => {
    assert.ok(error instanceof LaunchError)
    assert.match(error.message, /CLUSTER is "cluster", but must be single on Bun: [^\n]+\.$/)
    return true
  })
})

/** They are stopped after the test, because a failed one would wait for them without end. */
async function launchWorkers(t: TestContext, app: App, way: string, workers: number): Promise<Launch> {
  // On a busy machine a worker that is just starting takes longer than the 9 s that an app has to stop.
  const env = { CLUSTER: way, WORKERS: String(workers), SHUTDOWN_TIMEOUT_MS: '120000' }
  const launched = await launch(app, { env })
  t.after(() => launched.stop())
  return launched
}

/** Closed-loop load, in the midst of which something happens. */
async function loadWhile({ target }: Launch, happening: () => void): Promise<LoadResult> {
  return runLoad({
    target,
    path: '/json',
    connections: CONNECTIONS,
    durationMs: 1_500,
    expect: { body: exactly(JSON_BODY) },
    onPhase: async (phase) => {
      if (phase === 'open') setTimeout(happening, 300)
      return undefined
    },
  })
}

function signalOne({ ready }: Launch, signal: NodeJS.Signals): void {
  const [pid] = ready.workers ?? []
  assert.ok(pid)
  process.kill(pid, signal)
}

interface Share {
  served: { connections: number; requests: number } | null
}

/** What the last line of the primary says. */
function sharesIn(launched: Launch): Share[] {
  return (JSON.parse(lineIn(launched, 'stopped') ?? '{}') as { spread?: Share[] }).spread ?? []
}

/** What the primary says of the first worker that ends. */
async function endedWorker(launched: Launch): Promise<Share & { code: number | null }> {
  for (;;) {
    const line = lineIn(launched, 'worker ended')
    if (line !== undefined) return JSON.parse(line)
    await sleep(10)
  }
}

function lineIn(launched: Launch, msg: string): string | undefined {
  const whole = launched.output().split('\n').slice(0, -1)
  return whole.find((line) => line.includes(`"msg":"${msg}"`))
}

function requestsOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { served }) => sum + (served?.requests ?? 0), 0)
}
