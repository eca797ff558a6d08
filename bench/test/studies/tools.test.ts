import assert, { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { listen } from '@startgrid/cli/test-programs.ts'
import { processTree } from '@startgrid/machine/processes.ts'
import { isProbe } from '../../src/result/experiment.ts'
import { startup } from '../../studies/startup/study.ts'
import { runTool, type Tool, toolRace } from '../../studies/tool.ts'
import { measureMessages } from '../../studies/worker-pool/messages.ts'

/** What measures in place of our generator: the tools of the sources, and probes. */

const context = (signal = new AbortController().signal) => ({ signal, quick: true, heat: 1 })
const { signal } = context()
const withoutWrk = spawnSync('wrk', ['--version']).error !== undefined && 'wrk is not installed'
const AUTOCANNON: Tool = { name: 'autocannon', connections: 4, seconds: 1, path: '/' }
const WRK: Tool = { ...AUTOCANNON, name: 'wrk', threads: 2 }

async function serve(t: TestContext, status: number): Promise<string> {
  // autocannon counts whole milliseconds.
  const server = createServer((_request, response) =>
    setTimeout(() => response.writeHead(status).end('{}'), 5),
  )
  return `http://127.0.0.1:${await listen(t, server)}/`
}

test('commands are as the sources typed them', () => {
  const command = (tool: Tool) => toolRace([], tool).tool
  equal(command({ ...AUTOCANNON, connections: 10_000, seconds: 10 }), 'autocannon -c 10000 -d 10 URL')
  equal(command({ ...AUTOCANNON, threads: 4 }), 'autocannon -c 4 -w 4 -d 1 URL')
  equal(command({ ...AUTOCANNON, pipelining: 10 }), 'autocannon -c 4 -p 10 -d 1 URL')
  equal(command({ ...WRK, threads: 6, connections: 400, seconds: 30 }), 'wrk -t6 -c400 -d30s URL')
})

for (const tool of [AUTOCANNON, WRK])
  test(`${tool.name}: its rate, and wrong responses are errors`, {
    skip: tool === WRK && withoutWrk,
  }, async (t) => {
    const [url, wrong] = [await serve(t, 200), await serve(t, 500)]
    const [{ figures, responses }] = await Promise.all([
      runTool(tool, url, signal),
      rejects(runTool(tool, wrong, signal), new RegExp(`^Error: ${tool.name} counted [\\d,]+ errors$`)),
    ])
    const { rate, ...others } = figures
    ok(responses > 0 && (rate ?? 0) > 0)
    if (tool === WRK) return deepEqual(others, {})
    // Latencies are in seconds.
    const { 'median-rate': median = 0, 'median-latency': p50 = 0, 'p99-latency': p99 = 0 } = others
    ok(median > 0 && p50 >= 0.004 && p50 <= p99, `p50 ${p50} s, p99 ${p99} s`)
  })

test('an app starts, with a compile cache and without, and its memory is known', {
  timeout: 240_000,
}, async () => {
  const race = startup.races.hello
  assert.ok(race && isProbe(race))
  const start = () => Promise.reject(new Error('It starts by itself.'))
  for (const system of race.systems.slice(0, 2)) {
    const figures = await race.probe(system, { ...context(), start })
    ok((figures.startup ?? 0) > 0, system)
    if (process.platform === 'linux')
      ok((figures['peak-memory'] ?? 0) >= (figures['ready-memory'] ?? 1e9), system)
  }
})

const children = () => processTree(process.pid).filter((pid) => pid !== process.pid)
const messages = (runtime: 'node' | 'bun', count: number, one = signal) =>
  measureMessages({ runtime, size: 2 }, context(one), count)

for (const runtime of ['node', 'bun'] as const)
  test(`messages through a pool on ${runtime} have a rate and a cost`, async () => {
    const { rate = 0, cpu } = await messages(runtime, 3000)
    ok(rate > 0 && Number.isFinite(rate), `${rate}`)
    if (process.platform === 'linux') ok(cpu !== undefined && cpu > 0, `${cpu}`)
  })

test('a pool that ends early is one sentence', { skip: process.platform !== 'linux' }, async () => {
  const measuring = messages('node', 10_000_000)
  while (children().length < 3) await new Promise(setImmediate)
  for (const pid of children()) process.kill(pid, 'SIGKILL')
  await rejects(measuring, { message: 'qoper8-cp on node has no rate: it ended early' })
})

test('an interruption ends a pool, with all its processes', async () => {
  const interruption = new AbortController()
  const measuring = messages('node', 10_000_000, interruption.signal)
  while (process.platform === 'linux' && children().length < 3) await new Promise(setImmediate)
  interruption.abort()
  await rejects(measuring, { name: 'AbortError' })
  while (children().length > 0) await new Promise(setImmediate)
})
