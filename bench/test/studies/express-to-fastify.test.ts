import { deepEqual, equal, ok } from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { LoadRace, Measured, System } from '../../src/result/experiment.ts'
import { startSystem } from '../../src/servers/native/systems.ts'
import { expressToFastify } from '../../studies/express-to-fastify/study.ts'

const { systems, races, claims } = expressToFastify

/** It is no app of the grid, so the tests of the grid do not prove it; nor is it raced behind NGINX. */
for (const role of ['ssr', 'status'] as const)
  test(`conformance of fastify-express/${role}`, async (t) => {
    const { target } = await start(t, systemOf(`fastify-express/${role}`))
    const report = await checkConformance({ target, role })
    if (report.differences.length > 0) throw new Error(`\n${formatReport(report)}`)
  })

test('responses have about the size that the source had, on the wire', async (t) => {
  const sizes = await Promise.all([sizeOf('full', 'express/ssr'), sizeOf('partial', 'express/partial')])
  // Bytes/Sec over Req/Sec of the source, Express only: 4.74 MB / 482.3 and 673 kB / 534.1.
  ok(Math.abs((sizes[0] ?? 0) / 9828 - 1) < 0.05, `the page has ${sizes[0]} bytes`)
  ok(Math.abs((sizes[1] ?? 0) / 1260 - 1) < 0.35, `the fragment has ${sizes[1]} bytes`)

  async function sizeOf(race: string, system: string): Promise<number> {
    const { target } = await start(t, systemOf(system))
    return bytesOf(target, loadRace(race))
  }
})

test('a fragment is the same in all stages, and an unknown one is 404', async (t) => {
  const seen = await Promise.all(races.partial?.systems.map(readFragments) ?? [])
  equal(seen.length, 3)
  for (const one of seen) deepEqual(one, seen[0])

  async function readFragments(name: string): Promise<unknown[]> {
    const { target } = await start(t, systemOf(name))
    if (!('port' in target)) throw new Error(`${name} listens on a socket.`)
    const { path } = loadRace('partial')
    return Promise.all(
      [path, `${path}x`].map(async (one) => {
        const response = await fetch(`http://${target.host}:${target.port}${one}`)
        return [response.status, response.headers.get('cache-control'), await response.text()]
      }),
    )
  }
})

test('a reason names the difference in CPU', () => {
  const [claim] = claims
  const cpu: Record<string, number> = { 'express/status': 20e-6, 'fastify/status': 16e-6 }
  equal(
    claim?.because?.(measured((system) => cpu[system])),
    'A request costs 20.0 µs of CPU on Express and 4.00 µs less on Fastify, with equal responses.',
  )
})

function measured(figureOf: (system: string) => number | undefined): Measured {
  return {
    value: (_race, system) => figureOf(system),
    cpu: () => ({ app: undefined, proxy: undefined }),
    upstreamConnections: () => undefined,
    coreUse: () => undefined,
    openRate: () => undefined,
  }
}

async function start(t: TestContext, system: System) {
  const running = await startSystem(system, { nginx: undefined })
  t.after(() => running.stop())
  return running
}

function systemOf(name: string): System {
  const system = systems[name]
  if (system === undefined) throw new Error(`There is no system ${name}.`)
  return system
}

function loadRace(name: string) {
  return (races[name] as LoadRace).workload
}

/** Of one response with its headers, as autocannon counts them. */
async function bytesOf(target: Target, { path }: { path: string }): Promise<number> {
  const socket = connect('port' in target ? target : { path: target.socketPath })
  socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  let bytes = 0
  for await (const chunk of socket) bytes += chunk.length
  return bytes
}
