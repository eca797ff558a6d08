import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Progress } from '@startgrid/cli/progress.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { whyRunFailed } from '../../src/cli/measure.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import { runExperiment } from '../../src/measure/run.ts'
import type { Study } from '../../src/result/experiment.ts'
import type { Result } from '../../src/result/result.ts'
import { startSystem } from '../../src/servers/native/systems.ts'
import { clusterStudy } from '../../studies/cluster/study.ts'
import { nginxProxy } from '../../studies/nginx-proxy/study.ts'
import { njsVsNode } from '../../studies/njs-vs-node/study.ts'

/** A study as small as one can be. */
const TINY: Study = {
  name: 'tiny',
  title: 'a real one',
  question: 'Does it run?',
  source: { title: 'none', machine: 'none', tool: 'none' },
  systems: {
    node: { title: 'node', app: { package: 'apps/node', role: 'hello' } },
    broken: { title: 'broken', app: { package: 'apps/node', role: 'nothing' } },
    probed: { title: 'probed' },
    failing: { title: 'failing' },
    disturbed: { title: 'disturbed' },
    lacking: { title: 'lacking', lacks: (download) => (download ? null : 'it would be a download') },
  },
  races: {
    hello: {
      systems: ['node', 'broken'],
      workload: WORKLOADS.hello,
      connections: 8,
      warmupMs: 250,
      openLoop: ['node', 'broken'],
    },
    probes: {
      systems: ['probed', 'failing', 'disturbed', 'lacking'],
      probe: async (system, { onForeign }) => {
        if (system === 'disturbed') onForeign(0.3)
        if (system === 'failing') throw new Error('It does not work.\n    at a line')
        return { rate: 100 }
      },
      expectedMs: 1,
    },
  },
  claims: [],
}

const SILENT: Progress = { begin() {}, update() {}, say() {}, stop() {} }

function planned(study: Study): Result {
  const options = { profile: 'quick', heats: 2, seed: 7 } as const
  return createStudyResult(study, options, 'test')
}

async function run(study: Study, { signal = new AbortController().signal } = {}): Promise<[Result, number]> {
  const result = planned(study)
  let saved = 0
  const save = () => saved++
  await runExperiment(study, result, { progress: SILENT, save, signal, download: false })
  return [result, saved]
}

let whole: ReturnType<typeof run> | undefined
/** The same for both tests that look at it. */
const wholeRun = () => {
  whole ??= run(TINY)
  return whole
}

const nginx = await findNginx({ download: false })
const skip = nginx.kind === 'none' && nginx.describe()
const found = nginx.kind === 'none' ? undefined : nginx

test('two heats of a real study: slices, probes, and what failed', async () => {
  const [result, saved] = await wholeRun()
  ok(result.finishedAt !== null)
  equal(saved, 5, 'after each of four heats, and at the end')
  const hello = result.heats.filter(({ race }) => race === 'hello')
  deepEqual(
    hello.map(({ heat }) => heat),
    [1, 2],
  )
  const [first, second] = hello.map(
    ({ commonRate, trials }) => commonRate && { ...commonRate, loads: trials },
  )
  ok(first && second && first.rate > 0 && second.rate === first.rate, 'the same rate in all heats')
  deepEqual(first.tooSlow, [])
  for (const { cell, offered, histogram, meanMs } of first.loads) {
    equal(cell, 'hello node')
    ok(Math.abs((offered ?? 0) / first.rate - 1) < 0.5 && histogram !== null && (meanMs ?? 0) > 0)
  }
  ok(first.loads.length > 0)
  deepEqual(whyRunFailed(result), ['tiny: 2 of 5 cells could not be run, or responded wrongly: exit code 1.'])
  for (const { slices } of hello) {
    ok(slices.some(({ phase }) => phase === 'warmup') && slices.some(({ phase }) => phase === 'measure'))
    for (const { requests, errors, detail, cell, pass, phase } of slices) {
      equal(cell, 'hello node')
      deepEqual(errors, {})
      ok(detail && requests > 0 && (detail.bytes ?? 0) > 0)
      equal(pass === null, phase === 'warmup')
    }
  }
  const { cells = [] } = result.analysis ?? {}
  const find = (name: string) => cells.find(({ system }) => system === name)
  equal(find('probed')?.figures.rate?.value.toFixed(6), '100.000000')
  equal(find('failing')?.void, 'It does not work')
  equal(find('disturbed')?.void, null, 'a neighbour voids nothing')
  equal(find('disturbed')?.launches, 2, 'all count where all were disturbed')
  match(find('broken')?.void ?? '', /^it did not start: node\/nothing ended with 1/)
  equal(result.heats.filter(({ race }) => race === 'probes').flatMap(({ failures }) => failures).length, 1)
  equal(result.cells.find(({ system }) => system === 'lacking')?.skipped, 'it would be a download')
  const proven = result.conformance.find(({ cell }) => cell === 'hello node')
  ok((proven?.checked ?? 0) > 10)
  deepEqual(proven?.differences, [])
})

test('an interruption keeps whole heats only', async () => {
  const abort = new AbortController()
  const stopping: Study = {
    ...TINY,
    races: {
      probes: {
        systems: ['probed'],
        probe: async (_system, { signal }) => {
          abort.abort()
          await sleep(60_000, undefined, { signal })
          return {}
        },
        expectedMs: 1,
      },
    },
  }
  const [result] = await run(stopping, { signal: abort.signal })
  deepEqual(result.heats, [])
  equal(result.finishedAt, null)
})

/** What a system of a study, started alone. */
async function ask(study: Study, name: string, path: string): Promise<Response> {
  const system = study.systems[name]
  if (system === undefined) throw new Error(`There is no system ${name}.`)
  const running = await startSystem(system, { nginx: found })
  try {
    if (!('port' in running.target)) throw new Error('It listens on a socket.')
    const response = await fetch(`http://${running.target.host}:${running.target.port}${path}`)
    return new Response(await response.arrayBuffer(), response)
  } finally {
    await running.stop()
  }
}

test("the source's cluster and its one process give the same", async () => {
  for (const name of ['single', 'cluster-4'])
    equal(await (await ask(clusterStudy, name, '/')).text(), 'Hello World!')
})

test('Koa runs without a compiler, and so without types', async () => {
  equal(await (await ask(njsVsNode, 'hello-jitless', '/json')).text(), '{"hello":"world"}')
})

test('NGINX hands the same to one handler by SCGI and by HTTP, and passes on the same', {
  skip,
}, async () => {
  const told = ({ headers }: Response) => [...headers].filter(([name]) => !/^(date|x-request-id)$/.test(name))
  for (const [path, status] of [
    ['/json', 200],
    ['/nothing', 404],
  ] as const) {
    const [scgi, http] = [await ask(nginxProxy, 'scgi', path), await ask(nginxProxy, 'http', path)]
    deepEqual([scgi.status, http.status], [status, status])
    deepEqual(told(scgi), told(http))
    match(scgi.headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/)
    equal(await scgi.text(), await http.text())
  }
})

test("NGINX alone sends hello's JSON with the same headers as an app", { skip }, async () => {
  const [own, app] = [await ask(nginxProxy, 'nginx', '/json'), await ask(nginxProxy, 'fastify', '/json')]
  equal(await own.text(), await app.text())
  const names = ({ headers }: Response) =>
    [...headers.keys()].filter((name) => !['server', 'keep-alive', 'connection'].includes(name))
  deepEqual(names(own), names(app))
})
