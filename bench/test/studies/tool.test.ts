import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { runTool, type Tool, toolRace } from '../../studies/tool.ts'

const { signal } = new AbortController()
const withoutWrk = spawnSync('wrk', ['--version']).error !== undefined && 'wrk is not installed'
const AUTOCANNON: Tool = { name: 'autocannon', connections: 4, seconds: 1, path: '/' }
const WRK: Tool = { ...AUTOCANNON, name: 'wrk', threads: 2 }

async function serve(t: TestContext, status: number): Promise<string> {
  // autocannon counts whole milliseconds.
  const server = createServer((_request, response) =>
    setTimeout(() => response.writeHead(status).end('{}'), 5),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
}

test('commands as the sources typed them', () => {
  const command = (tool: Tool) => toolRace([], tool).tool
  equal(command({ ...AUTOCANNON, connections: 10_000, seconds: 10 }), 'autocannon -c 10000 -d 10 URL')
  equal(command({ ...AUTOCANNON, threads: 4 }), 'autocannon -c 4 -w 4 -d 1 URL')
  equal(command({ ...AUTOCANNON, pipelining: 10 }), 'autocannon -c 4 -p 10 -d 1 URL')
  equal(command({ ...WRK, threads: 6, connections: 400, seconds: 30 }), 'wrk -t6 -c400 -d30s URL')
})

test('autocannon: its rate, and latencies in seconds', async (t) => {
  const { figures, responses } = await runTool(AUTOCANNON, await serve(t, 200), signal)
  ok(responses > 0 && (figures.rate ?? 0) > 0 && (figures['median-rate'] ?? 0) > 0)
  const { 'median-latency': p50 = 0, 'p99-latency': p99 = 0 } = figures
  ok(p50 >= 0.004 && p50 <= p99, `p50 ${p50} s, p99 ${p99} s`)
})

for (const tool of [AUTOCANNON, WRK])
  test(`${tool.name}: wrong responses are errors`, { skip: tool === WRK && withoutWrk }, async (t) => {
    const url = await serve(t, 500)
    await rejects(runTool(tool, url, signal), new RegExp(`^Error: ${tool.name} counted [\\d,]+ errors$`))
  })

test('wrk: its rate', { skip: withoutWrk }, async (t) => {
  const { figures, responses } = await runTool(WRK, await serve(t, 200), signal)
  const { rate, ...others } = figures
  ok(responses > 0 && (rate ?? 0) > 0)
  deepEqual(others, {})
})
