import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen, newDirectory } from '@startgrid/cli/test-programs.ts'
import { whyRunFailed } from '../../src/cli/measure.ts'
import { planCells } from '../../src/experiment/cells.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import { tcpCounter } from '../../src/measure/load.ts'
import { runExperiment } from '../../src/measure/run.ts'
import type { LoadRace, Study } from '../../src/result/experiment.ts'
import type { Result } from '../../src/result/result.ts'
import { proveCells } from '../../src/servers/conformance.ts'
import { fakeServer, startedOf } from '../fixtures/laboratory.ts'

/** What only real processes show: a generator, the kernel's counters, and a study as small as one can be. */

test('the kernel’s counters are read by their names; what is not there is not zero', async (t) => {
  const path = join(newDirectory(t), 'snmp')
  writeFileSync(path, 'Ip: Forwarding\nIp: 1\nTcp: MaxConn ActiveOpens PassiveOpens\nTcp: -1 10 42\n')
  equal(tcpCounter('PassiveOpens', path), 42)
  equal(tcpCounter('ListenOverflows', path), undefined)
  equal(tcpCounter('PassiveOpens', '/nowhere'), undefined)
  if (process.platform !== 'linux') return
  const counted = tcpCounter('PassiveOpens') ?? 0
  const port = await listen(
    t,
    createServer((one) => one.end()),
  )
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('close', resolve).resume())
  ok((tcpCounter('PassiveOpens') ?? 0) > counted)
})

const TINY: Study = {
  name: 'tiny',
  title: 'a real one',
  question: 'Does it run?',
  systems: {
    node: { title: 'node', app: { package: 'apps/node', role: 'hello' }, warmupMs: 250 },
    broken: { title: 'broken', app: { package: 'apps/node', role: 'nothing' } },
    unproven: {
      title: 'unproven',
      app: { package: 'apps/node', role: 'hello', env: { TRUST_PROXY: 'nonsense' } },
    },
    probed: { title: 'probed' },
    failing: { title: 'failing' },
    lacking: { title: 'lacking', lacks: (download) => (download ? null : 'it would be a download') },
  },
  races: {
    hello: {
      systems: ['node', 'broken', 'unproven'],
      workload: WORKLOADS.hello,
      connections: 8,
      openLoop: ['node', 'broken'],
    },
    probes: {
      systems: ['probed', 'failing', 'lacking'],
      probe: async (system) => {
        if (system === 'failing') throw new Error('It does not work.\n    at a line')
        return { rate: 100 }
      },
      expectedMs: 1,
    },
  },
  claims: [],
}

async function run(study: Study, { signal } = new AbortController()): Promise<[Result, saved: number]> {
  const result = createStudyResult(study, { profile: 'quick', heats: 2, seed: 7 }, 'test')
  let saved = 0
  const progress = { begin() {}, update() {}, say() {}, stop() {} }
  await runExperiment(study, result, { progress, save: () => saved++, signal })
  return [result, saved]
}

test('two heats of a real study: slices, open loops, probes, and what failed', async () => {
  const [result, saved] = await run(TINY)
  ok(result.finishedAt !== null)
  equal(saved, 5, 'after each of four heats, and at the end')
  const hello = result.heats.filter(({ race }) => race === 'hello')
  const [rate, ...rates] = hello.map(({ commonRate }) => commonRate?.rate ?? 0)
  ok(rate !== undefined && rate > 0)
  deepEqual(rates, [rate], 'the same rate in all heats')
  for (const { slices, trials } of hello) {
    ok(trials.length > 0)
    for (const { cell, offered, histogram, meanMs } of trials) {
      equal(cell, 'hello node')
      ok(Math.abs(offered / rate - 1) < 0.5 && histogram !== null && (meanMs ?? 0) > 0)
    }
    ok(slices.some(({ phase }) => phase === 'warmup') && slices.some(({ phase }) => phase === 'measure'))
    for (const { requests, errors, detail, cell, pass, phase } of slices) {
      deepEqual([cell, errors, pass === null], ['hello node', {}, phase === 'warmup'])
      ok(requests > 0 && (detail?.bytes ?? 0) > 0)
    }
  }
  deepEqual(whyRunFailed(result), ['tiny: 3 of 5 cells could not be run, or responded wrongly: exit code 1.'])
  const find = (name: string) => result.analysis?.cells.find(({ system }) => system === name)
  equal(find('probed')?.figures.rate?.value.toFixed(6), '100.000000')
  equal(find('failing')?.void, 'It does not work')
  match(find('broken')?.void ?? '', /^it did not start: node\/nothing ended with 1/)
  match(find('unproven')?.void ?? '', /^it breaks the contract: .*TRUST_PROXY is not valid/)
  const failed = hello.flatMap(({ failures }) => failures.map(({ cell }) => cell))
  deepEqual(failed, ['hello broken'], 'it is not tried again, and what breaks the contract is not measured')
  equal(result.heats.filter(({ race }) => race === 'probes').flatMap(({ failures }) => failures).length, 1)
  equal(result.cells.find(({ system }) => system === 'lacking')?.skipped, 'it would be a download')
  deepEqual(result.conformance.find(({ cell }) => cell === 'hello node')?.differences, [])
})

test('the contract is proven of what runs: a server that has nothing breaks it in many ways', async (t) => {
  const server = createHttpServer((_request, response) => response.writeHead(404).end())
  const running = new Map([['hello node', fakeServer(await listen(t, server))]])
  const env = { NEVER: `remembered ${Date.now()}` }
  const systems = { node: { title: 'node', app: { package: 'apps/node', role: 'hello', env } } }
  const races = { hello: { ...TINY.races.hello, systems: ['node'] } as LoadRace }
  const experiment = { ...TINY, systems, races }
  const [record] = await proveCells(planCells(experiment), {
    start: async () => startedOf(running),
    nginx: null,
    experiment,
    signal: new AbortController().signal,
    onBegin() {},
  })
  ok((record?.differences.length ?? 0) > 10)
})

test('an interruption keeps whole heats only', async () => {
  const abort = new AbortController()
  const probe = async (_system: string, { signal }: { signal: AbortSignal }) => {
    abort.abort()
    await sleep(60_000, undefined, { signal })
    return {}
  }
  const races = { probes: { systems: ['probed'], probe, expectedMs: 1 } }
  const [{ heats, finishedAt }] = await run({ ...TINY, races }, abort)
  deepEqual([heats, finishedAt], [[], null])
})
