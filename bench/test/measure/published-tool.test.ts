import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { LoadError } from '@startgrid/loadgen'
import { commandOf, runTool, type ToolRun } from '../../src/measure/published.ts'

const SIGNAL = new AbortController().signal

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

const AUTOCANNON: ToolRun = { tool: 'autocannon', connections: 4, threads: 1, seconds: 1 }
const WRK: ToolRun = { tool: 'wrk', connections: 4, threads: 2, seconds: 1 }

test('commands as the sources typed them', () => {
  equal(commandOf({ ...AUTOCANNON, connections: 10_000, seconds: 10 }), 'autocannon -c 10000 -d 10 URL')
  equal(commandOf({ ...AUTOCANNON, threads: 4 }), 'autocannon -c 4 -w 4 -d 1 URL')
  equal(commandOf({ ...WRK, threads: 6, connections: 400, seconds: 30 }), 'wrk -t6 -c400 -d30s URL')
})

test('autocannon: its rate, latencies in seconds, and no error', async (t) => {
  const { rate, latency, errors, medianRate } = await runTool(AUTOCANNON, await serve(t, 200), SIGNAL)
  ok(rate > 0 && (medianRate ?? 0) > 0)
  ok(latency.mean > 0 && latency.p99 > 0)
  deepEqual(errors, {})
})

test('autocannon: responses that are wrong are errors', async (t) => {
  const { errors } = await runTool(AUTOCANNON, await serve(t, 500), SIGNAL)
  ok((errors['not 2xx'] ?? 0) > 0)
})

const hasWrk = canRun('wrk')

test('wrk: its rate and errors', { skip: !hasWrk && 'wrk is not installed' }, async (t) => {
  const { rate, errors } = await runTool(WRK, await serve(t, 500), SIGNAL)
  ok(rate > 0)
  ok((errors.status ?? 0) > 0)
})

test('a tool that cannot run says so', { skip: !hasWrk && 'wrk is not installed' }, async () => {
  await rejects(runTool(WRK, 'http://127.0.0.1:1/', SIGNAL), LoadError)
})

function canRun(tool: string): boolean {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // wrk has no option that only prints: it ends with 1.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}
