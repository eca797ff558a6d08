import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Servers } from '../../../src/environments/environment.ts'
import { runningServers } from '../../../src/environments/running/environment.ts'
import { newCell } from '../../../src/experiment/cells.ts'
import { WORKLOADS } from '../../../src/experiment/workloads.ts'
import { runHeat } from '../../../src/measure/heat.ts'
import type { Experiment } from '../../../src/model/experiment.ts'
import type { Heat } from '../../../src/model/heat.ts'
import { fakeGenerator } from '../../fixtures/fake-generator.ts'

const { signal } = new AbortController()
const CELL = newCell({
  ...{ id: 'target/status direct', race: 'status', app: 'target/status', role: 'status' },
  ...{ workload: 'GET /_/status', connections: 64, warmupMs: 250 },
})

const experimentOf = (origin: string): Experiment => ({
  ...{ name: '', races: {}, claims: [] },
  systems: { [CELL.system]: { title: 'target', running: { origin, role: 'status', absent: [] } } },
})

describe('a server that already runs', () => {
  let server: Server
  let servers: Servers
  let port: number

  before(async () => {
    server = createServer((_request, response) => response.end('OK')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    servers = runningServers(experimentOf(`http://127.0.0.1:${port}`), [CELL], {
      cores: null,
      signal,
    })
  })
  after(() => server.close())

  const only = () => {
    const found = servers.running.get(CELL.id)
    assert.ok(found)
    return found
  }

  test('is where its origin says, and has no launches', async () => {
    assert.deepEqual(only().target, { host: '127.0.0.1', port })
    assert.deepEqual(await servers.launches([CELL]), [])
  })

  test('has no account, but its generator has', async () => {
    const end = await only().beginAccount({ pids: () => [process.pid] })
    let work = 0
    for (let round = 0; round < 3e7; round++) work += round % 7
    assert.ok(work > 0)
    const { cpuSeconds, disturbance } = (await end())({ cpuSeconds: 0.1, waitSeconds: 0 })
    assert.deepEqual([cpuSeconds.app, cpuSeconds.proxy], [null, null])
    assert.ok((cpuSeconds.generator ?? 0) > 0)
    assert.deepEqual([disturbance.serverWait, disturbance.serverForeign], [null, null])
    assert.notEqual(disturbance.generatorWait, null)
  })

  test('that stops to respond ends the heat of its cell, which says why', async () => {
    assert.equal(await only().whyEnded(), null)
    let loads = 0
    const heat = await heatOf(async () => {
      if (++loads === 2) server.close()
    })
    assert.deepEqual(heat.failures, [
      { cell: 'target/status direct', reason: 'the server no longer responds (ECONNREFUSED)' },
    ])
    assert.deepEqual([loads, heat.slices.length], [2, 1])
  })

  function heatOf(during: () => Promise<void>): Promise<Heat> {
    const run = async () => {
      await during()
      return {}
    }
    const generator = fakeGenerator(run, [process.pid])
    return runHeat({
      expectedMs: 1000,
      planned: { race: 'status', heat: 1, seed: 7 },
      cells: [CELL],
      settings: { slices: 3, sliceMs: 100 },
      environment: { start: async () => servers },
      generator,
      workloadOf: ({ role }) => WORKLOADS[role ?? 'hello'],
      moreWarmup: new Map(),
      endsAt: Number.POSITIVE_INFINITY,
      signal,
      onProgress: () => {},
    })
  }
})
