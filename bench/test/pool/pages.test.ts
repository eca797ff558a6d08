import assert from 'node:assert/strict'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { PageClient } from '../../src/pool/pages/client.ts'
import { formatPageFigures, pageRatios } from '../../src/pool/pages/figures.ts'
import { measurePages } from '../../src/pool/pages/measure.ts'
import { PoolError } from '../../src/pool/pool-error.ts'

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const client = new PageClient(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  return {
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      server.close()
    },
  }
}

test('keeps so many requests in flight', async () => {
  const waiting = new Set<ServerResponse>()
  let most = 0
  const respond = () => {
    for (const response of waiting) response.end('page')
    waiting.clear()
  }
  await using server = await serve((_request, response) => {
    most = Math.max(most, waiting.add(response).size)
    // A seventh would come within 5 ms. At the end there are fewer than six.
    setTimeout(respond, waiting.size < 6 ? 1_000 : 5)
  })
  const { responses, rate } = await server.client.saturate('/', 6, 300)
  assert.equal(most, 6)
  assert.ok(responses >= 6 && rate > 0)
})

test('latency counts from when a request was due, so a server that stands still is charged for all', async () => {
  let stoodStill = false
  await using server = await serve((_request, response) => {
    if (!stoodStill) setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400), 50)
    stoodStill = true
    response.end()
  })
  const { latencies, lags } = await server.client.offer('/', { rate: 100, ms: 1000, random: createRandom(3) })
  assert.equal(latencies.length, lags.length)
  // About 40 were due meanwhile, and waited for 200 ms on average.
  assert.ok(latencies.filter((ms) => ms > 100).length >= 15)
})

test('a wrong status is no figure', async () => {
  await using server = await serve((_request, response) => response.writeHead(503).end())
  await assert.rejects(server.client.saturate('/page', 2, 100), PoolError)
  const offer = { rate: 100, ms: 100, random: createRandom(1) }
  await assert.rejects(server.client.offer('/page', offer), /^PoolError: \/page got 503/)
})

test('pages in process and in a pool', async () => {
  const settings = { framework: 'express', library: 'piscina', size: 1, items: 5, ms: 200, seed: 1 } as const
  const launch = await measurePages(settings)
  assert.equal(launch.offered, launch.inProcess.capacity / 2)
  for (const way of [launch.inProcess, launch.pooled]) {
    assert.ok(way.capacity > 0)
    assert.ok(way.page.p50 > 0 && way.page.p99 >= way.page.p50)
    assert.ok(way.local.p50 > 0 && way.local.p99 >= way.local.p50)
    assert.ok(way.eventLoop.max >= way.eventLoop.p50)
  }
  const launches = [launch, launch]
  const text = formatPageFigures({ settings, launches, ratios: pageRatios(launches) })
  assert.match(text, /^Pages of 5 items in express: in its own process, and in 1 worker of piscina/)
  assert.match(text, /^ +1 +in process /m)
  assert.ok(text.split('\n').every((line) => line.length <= 80))
})

test('ratios are the pool over the process', () => {
  const way = (capacity: number, p99: number) => ({
    capacity,
    cpuPerPage: null,
    foreign: null,
    page: { p50: 1, p99 },
    local: { p50: 1, p99 },
    eventLoop: { p50: 1, p99, max: p99 },
    lag: 0,
  })
  const launch = { inProcess: way(100, 20), pooled: way(180, 2), offered: 50 }
  const { capacity, local } = pageRatios([launch, launch])
  assert.ok(Math.abs(capacity.value - 1.8) < 1e-9)
  assert.ok(Math.abs(local.value - 0.1) < 1e-9)
})
