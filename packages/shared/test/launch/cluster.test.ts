import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hang, type Line, launch } from '../process/fixtures/launch.ts'

const LIMIT = { timeout: 120_000 }
const WAYS = process.platform === 'linux' ? ['cluster', 'reuse-port'] : ['cluster']

interface Share {
  worker: number
  pid: number
  served: { connections: number; requests: number } | null
}

for (const [way, CLUSTER] of WAYS.entries()) {
  const start = (workers: number, env: Record<string, string> = {}, role = 'slow', detached = false) =>
    launch({ CLUSTER, WORKERS: String(workers), SHUTDOWN_TIMEOUT_MS: '120000', ...env }, [role], detached)

  let tests = way
  /** Tries each test in one of the ways, by turns. */
  const prove = (name: string, run: (context: TestContext) => Promise<void>) => {
    if (tests++ % WAYS.length === 0) test(name, LIMIT, run)
  }

  describe(`cluster, ${CLUSTER}`, () => {
    prove('one line when all listen, and one at the end with the share of each', async () => {
      using app = start(3, { LOG_LEVEL: 'silent' })
      const { address, workers, pid, cluster } = await app.line('listening')
      deepEqual([cluster, new Set([pid, ...pidsIn(workers)]).size], [CLUSTER, 4])
      for (let asked = 0; asked < 30; asked++) await ask(address)
      app.stop()
      const { code, stderr, messages, lines } = await app.end()
      deepEqual([code, stderr, messages], [0, '', ['listening', 'stopped']])
      const shares = sharesIn(lines)
      deepEqual(
        shares.map((share) => [share.worker, share.pid]),
        pidsIn(workers).map((worker, index) => [index + 1, worker]),
      )
      equal(sum(shares, 'requests'), 30)
      equal(sum(shares, 'connections'), 30)
      ok(shares.filter(({ served }) => served?.requests).length > 1, 'one worker had it all')
    })

    prove('each line of a worker names it', async () => {
      using app = start(2)
      await app.line('listening')
      app.stop()
      const { lines } = await app.end()
      const drained = lines.filter(({ msg }) => msg === 'draining')
      deepEqual(drained.map(({ worker }) => worker ?? 'primary').toSorted(), [1, 2, 'primary'])
    })

    prove('lines of workers do not come into each other, also where the collector is behind', async () => {
      using app = start(2)
      const { address } = await app.line('listening')
      app.pause()
      // So many that both workers get some. One that gets most of them drops lines, which it counts.
      await Promise.all(Array.from({ length: 20 }, () => ask(address, '/chatter')))
      app.resume()
      app.stop()
      const { code, lines } = await app.end() // which reads every line as JSON
      const chatter = lines.filter(({ msg }) => msg === 'chatter')
      deepEqual([code, new Set(chatter.map(({ worker }) => worker)).size], [0, 2])
      ok(chatter.length + droppedIn(lines) >= 100_000) // of what is dropped, some are other lines
    })

    prove('a worker that is killed is replaced, later each time, and the log says why', async () => {
      using app = start(2)
      const { address, workers } = await app.line('listening')
      const [first = 0] = pidsIn(workers)
      process.kill(first, 'SIGKILL')
      const { pid } = await app.line('worker listening')
      process.kill(Number(pid), 'SIGKILL')
      await app.line('worker listening', 1)
      equal(await ask(address), 'here')
      const [one, two] = [await app.line('worker ended'), await app.line('worker ended', 1)]
      deepEqual(
        [one, two].map(({ level, worker, signal, code, served, restartMs }) => [
          [level, worker, signal, code, served],
          restartMs,
        ]),
        [
          [[50, 1, 'SIGKILL', null, null], 100],
          [[50, 3, 'SIGKILL', null, null], 200],
        ],
      )
      app.stop()
      const { code, lines } = await app.end()
      deepEqual([code, sharesIn(lines).map(({ worker }) => worker)], [0, [2, 4]])
    })

    prove('all workers killed: they come back on the port that the system picked', async () => {
      using app = start(2)
      const { address, workers } = await app.line('listening')
      for (const pid of pidsIn(workers)) process.kill(pid, 'SIGKILL')
      await app.line('worker listening', 1)
      equal(await ask(address), 'here')
      app.stop()
      equal((await app.end()).code, 0)
    })

    prove('an uncaught exception: the worker drains and is replaced', async () => {
      using app = start(1)
      const { address } = await app.line('listening')
      const slow = await fetch(`${address}/slow`)
      const client = new AbortController()
      fetch(`${address}/crash`, { signal: client.signal }).catch(() => {})
      await app.line('uncaught')
      client.abort() // it never gets a response, and would be waited for
      equal(await slow.text(), 'first half, second half')
      const { worker, code, signal, served } = await app.line('worker ended')
      deepEqual([worker, code, signal, served], [1, 1, null, { connections: 2, requests: 2 }])
      await app.line('worker listening')
      app.stop()
      equal((await app.end()).code, 0)
    })

    for (const [whom, detached] of [
      ['the primary', false],
      ['all processes at once, as systemd and a terminal do', true],
    ] as const) {
      prove(`SIGTERM to ${whom}: every request gets its response, exit 0`, async () => {
        using app = start(2, {}, 'slow', detached)
        const { address, pid } = await app.line('listening')
        const responses = await Promise.all(Array.from({ length: 8 }, () => fetch(`${address}/slow`)))
        process.kill(detached ? -Number(pid) : Number(pid), 'SIGTERM')
        for (const response of responses) equal(await response.text(), 'first half, second half')
        const { code, stderr, lines, messages } = await app.end()
        deepEqual([code, stderr, sum(sharesIn(lines), 'requests')], [0, '', 8])
        equal(messages.filter((msg) => msg === 'draining').length, 3)
        ok(!messages.includes('worker listening'))
      })
    }

    prove('SIGTERM to workers that drain already changes nothing', async () => {
      using app = start(2, { SHUTDOWN_DELAY_MS: '3000' }) // a slow machine must not be late for it
      const { workers } = await app.line('listening')
      app.stop()
      await app.line('draining', 2)
      for (const pid of pidsIn(workers)) process.kill(pid, 'SIGTERM')
      const { code, messages } = await app.end()
      deepEqual([code, messages.filter((msg) => msg === 'draining').length], [0, 3])
    })

    prove('a worker is killed while it drains: exit 1, and the log says which', async () => {
      using app = start(2, { SHUTDOWN_DELAY_MS: '3000' }) // a slow machine must not be late for it
      const { workers } = await app.line('listening')
      app.stop()
      await app.line('draining', 2)
      process.kill(pidsIn(workers)[1] ?? 0, 'SIGKILL')
      const { code, messages } = await app.end()
      deepEqual([code, messages.at(-1)], [1, 'Not drained: workers 2'])
    })

    prove('SIGTERM while a worker is being replaced: exit 0', async () => {
      using app = start(2)
      const { workers } = await app.line('listening')
      process.kill(pidsIn(workers)[0] ?? 0, 'SIGKILL')
      const { restartMs } = await app.line('worker ended')
      await sleep(Number(restartMs) + 20) // it has been started, but takes longer than that to listen
      app.stop()
      equal((await app.end()).code, 0)
    })

    prove('SIGTERM before all listen: no worker is left, and none complains', async (context) => {
      if (process.platform !== 'linux') return context.skip('needs /proc')
      using app = start(4)
      while (childrenOf(app.pid).length === 0) await sleep(5)
      const workers = childrenOf(app.pid)
      app.stop()
      equal((await app.end()).stderr, '')
      await goneAll(workers)
    })

    prove('while the load balancer gets its time, workers serve and keep connections', async () => {
      using app = start(2, { SHUTDOWN_DELAY_MS: '600000' })
      const { address } = await app.line('listening')
      app.stop()
      await app.line('draining', 2)
      const response = await fetch(`${address}/`)
      deepEqual([response.headers.get('connection'), await response.text()], ['keep-alive', 'here'])
      app.stop()
      equal((await app.end()).code, 1)
    })

    prove('the deadline passes: exit 1, and not even a worker that spins is left', async () => {
      using app = start(2, { SHUTDOWN_TIMEOUT_MS: '200' })
      const { address, workers } = await app.line('listening')
      ask(address, '/spin').catch(() => {})
      await app.line('spins')
      app.stop()
      const { code, messages } = await app.end()
      deepEqual([code, messages.includes('killed by timeout (200ms)')], [1, true])
      await goneAll(pidsIn(workers))
    })

    prove('a second SIGTERM while requests hang: exit 1 at once, without workers', async () => {
      using app = start(2, { SHUTDOWN_TIMEOUT_MS: '600000' })
      const { address, workers } = await app.line('listening')
      await hang(address)
      app.stop()
      await app.line('draining', 2)
      app.stop()
      const { code, messages } = await app.end()
      deepEqual([code, messages.includes('second SIGTERM, exiting')], [1, true])
      await goneAll(pidsIn(workers))
    })

    prove('the primary is killed: no worker is left', async () => {
      using app = start(2)
      const { address, workers, pid } = await app.line('listening')
      await hang(address)
      process.kill(Number(pid), 'SIGKILL')
      await goneAll(pidsIn(workers))
    })

    prove('a port in use: one sentence, exit 1', async () => {
      using other = await occupy()
      using app = start(3, { PORT: other.port })
      const { code, messages, stderr } = await app.end()
      // A worker that was started closes what it opened; with reusePort the primary finds the port in use before.
      deepEqual([code, messages.filter((message) => message !== 'closed')], [1, []])
      match(
        stderr,
        new RegExp(`^Port ${other.port} on 127\\.0\\.0\\.1 is in use by another process: .*\\.\\n$`),
      )
    })

    prove('a port that another cluster has: one sentence, exit 1', async () => {
      using first = start(1)
      const { port } = new URL(String((await first.line('listening')).address))
      using second = start(1, { PORT: port })
      const { code, messages, stderr } = await second.end()
      // A worker that was started closes what it opened; with reusePort the primary finds the port in use before.
      deepEqual([code, messages.filter((message) => message !== 'closed')], [1, []])
      match(stderr, new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another process: .*\\.\\n$`))
    })

    prove('a worker that ends before it listens ends everything', async () => {
      using app = start(3, {}, 'empty')
      const { code, messages, stderr } = await app.end()
      deepEqual([code, messages, stderr.match(/TypeError/g)?.length], [1, [], 1])
      match(stderr, /A worker ended before it listened \(exit code 1\), so the cluster does not start\.\n$/)
    })

    prove('an unknown role and a bad setting: one sentence, exit 1', async () => {
      using unknown = start(2, {}, 'quick')
      equal((await unknown.end()).stderr, "There is no app 'quick' here, only broken, empty, slow.\n")
      using bad = start(2, { PORT: 'x' })
      const { code, stderr } = await bad.end()
      deepEqual([code, stderr], [1, 'PORT is "x", but must be a whole number from 0 to 65535.\n'])
    })
  })
}

test('cluster: workers share a unix socket, which is gone afterwards', LIMIT, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'startgrid-cluster-'))
  try {
    const socketPath = join(directory, 'app.sock')
    using app = launch({ CLUSTER: 'cluster', WORKERS: '2', SOCKET: socketPath })
    equal((await app.line('listening')).address, `unix:${socketPath}`)
    // The primary passes each to a worker that is free: one of them may get several in a row.
    for (let asked = 0; asked < 30; asked++) {
      const [response]: IncomingMessage[] = await once(get({ socketPath, agent: false }), 'response')
      equal(response?.statusCode, 200)
      response?.resume()
    }
    app.stop()
    const { code, lines } = await app.end()
    equal(code, 0)
    ok(sharesIn(lines).every(({ served }) => served && served.requests > 0))
    equal(existsSync(socketPath), false)
  } finally {
    await rm(directory, { recursive: true })
  }
})

/** On a connection of its own: workers share connections, not requests. */
async function ask(address: unknown, path = '/'): Promise<string> {
  return (await fetch(`${address}${path}`, { headers: { connection: 'close' } })).text()
}

function pidsIn(workers: unknown): number[] {
  ok(Array.isArray(workers))
  return workers.map(Number)
}

function sharesIn(lines: readonly Line[]): Share[] {
  const stopped = lines.find(({ spread }) => spread !== undefined)
  return (stopped?.spread ?? []) as Share[]
}

function droppedIn(lines: readonly Line[]): number {
  return lines.reduce(
    (total, { msg, lines: count }) => total + (/^log was full/.test(msg) ? Number(count) : 0),
    0,
  )
}

function sum(shares: readonly Share[], what: 'connections' | 'requests'): number {
  return shares.reduce((total, { served }) => total + (served?.[what] ?? 0), 0)
}

/** Waits until none of these processes exists; the limit of the test ends it otherwise. */
async function goneAll(pids: readonly number[]): Promise<void> {
  while (pids.some(exists)) await sleep(10)
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** A zombie does not: in a container nobody may collect orphans. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function occupy() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = String(typeof address === 'object' ? address?.port : '')
  return { port, [Symbol.dispose]: () => void server.close() }
}
