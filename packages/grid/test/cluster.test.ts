import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTested, sample } from '@startgrid/cli/test-run.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { exactly, type LoadPlan, type LoadResult, runLoad, sumErrors } from '@startgrid/loadgen'
import { APPS, type App } from '../src/apps.ts'
import { type Launch, LaunchError, launch } from '../src/launcher.ts'
import { askUntilClosed } from './client.ts'

/** Apps as several processes: the contract holds, and what happens to one worker does not touch the others. A sample in short runs. */

const WAYS = process.platform === 'linux' ? ['cluster', 'reuse-port'] : ['cluster']
const CONNECTIONS = 32
const JSON_BODY = '{"hello":"world"}'

const hellos = APPS.filter((app) => app.role === 'hello' && isTested(app))
const onNode = hellos.filter(({ runtime }) => runtime === 'node')
const [bun] = hellos.filter(({ runtime }) => runtime === 'bun')
// Fastify closes its server in a way of its own, the others all in one.
const closers = onNode.filter(({ framework }) => framework === 'node' || framework === 'fastify')
const conforming = sample('cluster conformance', inEachWay(onNode), 2)
const loaded = sample('cluster load', inEachWay(closers), 1)

for (const way of WAYS) {
  describe(`${way}: conformance`, () => {
    for (const { app } of conforming.filter((one) => one.way === way)) {
      test(app.name, async () => {
        const launched = await launchWorkers(app, way, 2)
        const { target } = launched
        const report = await checkConformance({
          target,
          role: app.role,
          absent: app.absent,
          proxied: false,
        }).finally(() => launched.stop())
        assert.deepEqual(report.differences, [], `\n${formatReport(report)}`)
        assert.ok(sharesIn(launched).every(({ served }) => served && served.requests > 0))
      })
    }
  })

  for (const { app } of loaded.filter((one) => one.way === way)) {
    describe(`${way}: ${app.name} under load`, () => {
      test('a worker is killed: it alone loses what it had in flight', async () => {
        const launched = await launchWorkers(app, way, 3)
        const { errors, requests } = await loadWhile(launched, {}, () => signalOne(launched, 'SIGKILL'))
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

      test('a worker is told to stop: nothing is lost', async () => {
        const launched = await launchWorkers(app, way, 3)
        // The kernel resets what waits to be accepted by a process that stops listening, so only node:cluster can lose no new connection.
        const plan = { newConnections: way === 'cluster' }
        const { errors, requests } = await loadWhile(launched, plan, () => signalOne(launched, 'SIGTERM'))
        assert.equal(await launched.stop(), 0, launched.output())
        assert.ok(requests > CONNECTIONS)
        assert.equal(sumErrors(errors), 0, JSON.stringify(errors))
        assert.match(launched.output(), /"code":0,.*"msg":"worker ended"/)
      })

      test('all are told to stop: nothing is lost, and their shares add up', async () => {
        const launched = await launchWorkers(app, way, 3)
        const first = Array.from({ length: CONNECTIONS }, () => Promise.withResolvers<void>())
        const clients = Promise.all(first.map((one) => askUntilClosed(launched.target, one.resolve)))
        // Connections that no worker has accepted yet would be refused.
        await Promise.all(first.map((one) => one.promise))
        assert.equal(await launched.stop(), 0, launched.output())
        const asked = (await clients).reduce((sum, count) => sum + count, 0)
        assert.ok(asked > CONNECTIONS)
        const shares = sharesIn(launched)
        assert.equal(
          shares.reduce((sum, { served }) => sum + (served?.requests ?? 0), 0),
          asked,
        )
        assert.equal(shares.length, 3)
      })
    })
  }
}

test('Bun says that it cannot', { skip: bun === undefined && 'only one framework is tested' }, async () => {
  assert.ok(bun)
  await assert.rejects(launch(bun, { env: { CLUSTER: 'cluster' } }), (error) => {
    assert.ok(error instanceof LaunchError)
    assert.match(error.message, /CLUSTER is "cluster", but must be single on Bun: [^\n]+\.$/)
    return true
  })
})

function inEachWay(apps: readonly App[]): { app: App; way: string }[] {
  return WAYS.flatMap((way) => apps.map((app) => ({ app, way })))
}

function launchWorkers(app: App, way: string, workers: number): Promise<Launch> {
  return launch(app, { env: { CLUSTER: way, WORKERS: String(workers) } })
}

/** Closed-loop load, in the midst of which something happens. */
async function loadWhile(
  { target }: Launch,
  plan: Partial<LoadPlan>,
  happening: () => void,
): Promise<LoadResult> {
  const expect = { body: exactly(JSON_BODY) }
  const load = runLoad({
    target,
    path: '/json',
    connections: CONNECTIONS,
    durationMs: 1_500,
    expect,
    ...plan,
  })
  await sleep(500)
  happening()
  return load
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
  const line = launched
    .output()
    .split('\n')
    .find((text) => text.includes('"msg":"stopped"'))
  return (JSON.parse(line ?? '{}') as { spread?: Share[] }).spread ?? []
}
