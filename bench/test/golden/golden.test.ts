import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { LoadResult } from '@startgrid/loadgen/result.ts'
import { measureByBenchmark, onClockOf, silentRun, simulate } from '../../simulation/method.ts'
import { QUIET } from '../../simulation/scenarios.ts'
import { World } from '../../simulation/world.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { analyse } from '../../src/judge/analysis.ts'
import { runHeats } from '../../src/measure/heats.ts'
import type { Generator } from '../../src/measure/load.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { Study } from '../../src/result/experiment.ts'
import type { Heat } from '../../src/result/heat.ts'
import type { Result } from '../../src/result/result.ts'
import { golden, NAMES } from '../fixtures/golden.ts'
import { histogramOf } from '../fixtures/laboratory.ts'

/**
 * Small stored results of every kind, their figures and their reports. Figures change with the estimator alone. Texts may change on purpose:
 * `node --test --test-update-snapshots bench/test/golden` writes them again, and the diff is for the reviewer.
 */

const STYLE = { columns: 80, color: false }
const asText = { serializers: [(text: string) => text] }

function keep(context: TestContext, name: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files))
    context.assert.fileSnapshot(text, `${import.meta.dirname}/${name}/${file}`, asText)
}

/** One line per entry, so that a diff names the cell. */
function linesOf(figures: object): string {
  return `${Object.entries(figures)
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map((one) => [name, one]) : [[name, value]]))
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join('\n')}\n`
}

for (const name of NAMES)
  test(`${name}: figures and reports are as they were`, (context) => {
    const result = golden(name)
    const { analysis, warnings } = result
    const document = documentOf(result)
    keep(context, name, {
      'figures.txt': linesOf({ ...analysis, warnings }),
      'terminal.txt': formatTerminal(document, STYLE),
      'markdown.txt': formatMarkdown(document),
    })
  })

/** The same seed in the same simulated world gives the same heats and figures. A digest of each part, so that a diff names what has changed. */
function keepDigests(context: TestContext, name: string, parts: Readonly<Record<string, unknown>>): void {
  const digestOf = (value: unknown) =>
    createHash('sha256').update(JSON.stringify(value, inOrder)).digest('hex')
  const lines = Object.entries(parts).map(([part, value]) => `${part} ${digestOf(value)}\n`)
  keep(context, 'simulation', { [`${name}.txt`]: lines.join('') })
}

/** The order of fields says nothing, nor does one that is null. */
function inOrder(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const known = Object.entries(value).filter(([, one]) => one !== null)
  return Object.fromEntries(known.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function partsOf(heats: readonly Heat[]) {
  return {
    schedule: heats.map(({ race, heat, slices }) => [race, heat, slices.map(({ cell }) => cell)]),
    ...Object.fromEntries(heats.map((heat) => [`${heat.race} ${heat.heat}`, heat])),
  }
}

test('a simulated race', async (context) => {
  const { result } = await measureByBenchmark(new World(QUIET, 5), { heats: 2, seed: 1 })
  const { heats, analysis } = result
  // What this machine's kernel counted, and the world does not simulate.
  for (const slice of heats.flatMap(({ slices }) => slices)) {
    delete slice.detail
    delete slice.longest
  }
  for (const one of analysis?.cells ?? []) one.upstreamConnections = null
  keepDigests(context, 'race', { ...partsOf(heats), figures: analysis })
})

const app = (framework: string, role: string) => ({
  title: `${framework} ${role}`,
  app: { package: `apps/${framework}`, role },
})

const PAIR = { race: 'hello', over: 'fastify/hello', under: 'node/hello' }

/** Apps of the world, directly and behind NGINX, with a probe beside them. */
const STUDY: Study = {
  name: 'simulated',
  title: 'a study in a simulated world',
  question: 'Does it stay the same?',
  systems: {
    'node/hello': app('node', 'hello'),
    'fastify/hello': app('fastify', 'hello'),
    'express/hello': { ...app('express', 'hello'), nginx: { front: 'nginx' } },
    'node/ssr': app('node', 'ssr'),
    'koa/ssr': { ...app('koa', 'ssr'), cores: 2 },
    probed: { title: 'probed' },
  },
  races: {
    hello: {
      systems: ['node/hello', 'fastify/hello', 'express/hello'],
      workload: { path: '/json', expect: {} },
      connections: 64,
      openLoop: ['node/hello', 'fastify/hello'],
    },
    ssr: {
      systems: ['node/ssr', 'koa/ssr'],
      workload: { path: '/', expect: {} },
      connections: 8,
      sliceMs: 500,
    },
    probes: { systems: ['probed'], probe: async () => ({ startup: 0.25 }), expectedMs: 1 },
  },
  claims: [
    {
      ...PAIR,
      id: 'rate',
      says: 'fastify gives 0.8 of the responses of node',
      metric: 'rate',
      published: [8, 10],
    },
    {
      ...PAIR,
      id: 'latency',
      says: 'fastify is as late as node',
      metric: 'median-latency',
      published: [1, 1],
    },
  ],
  steps: [{ what: 'fastify', race: 'hello', from: 'node/hello', to: 'fastify/hello' }],
}

test('a simulated study', async (context) => {
  const world = new World(QUIET, 5)
  const result = createStudyResult(STUDY, { profile: 'quick', seed: 3 }, '')
  result.conformance = result.cells.map(({ id }) => ({ cell: id, differences: [] }))
  result.settings.cores = { server: 0, servers: [0], generator: 1 }
  for (const { cores } of result.cells) cores.given = 1
  const run = { ...silentRun(result), experiment: STUDY, ...simulateLoads(world, result) }
  await onClockOf(world, () => runHeats(run))
  for (const slice of result.heats.flatMap(({ slices }) => slices)) {
    slice.detail = { otherConnections: null }
    delete slice.longest
  }
  keepDigests(context, 'study', { ...partsOf(result.heats), figures: analyse(STUDY, result) })
})

/** Servers of the world, and a generator that also offers open loops. */
function simulateLoads(world: World, result: Result) {
  const { generator, start, load } = simulate(world, result)
  const run: Generator['run'] = async (plan) => {
    const { target, rate, durationMs, onPhase } = plan
    if (rate === undefined) return generator.run(plan)
    await onPhase?.('open')
    const seconds = durationMs / 1000
    const done = load(target, seconds)
    return loadOf(done.requests / done.seconds, seconds, rate)
  }
  return { start, generator: { ...generator, run } }
}

/** What a queue with one server would show: waits grow with the use of the server, and above its capacity with the time. */
function loadOf(capacity: number, seconds: number, rate: number): LoadResult {
  const factor = Math.max(1, rate / capacity)
  const requests = Math.round(rate * seconds)
  const meanMs = 1000 / capacity / (1 - Math.min(0.98, rate / capacity))
  const queueMs = (factor - 1) * seconds * 1000
  const at = (part: number) => -Math.log(1 - part) * meanMs + part * queueMs
  const values = Array.from({ length: 12_000 }, (_, index) => at((index + 0.5) / 12_000))
  const load = {
    requests,
    seconds: seconds * factor,
    errors: {},
    checked: Math.ceil(requests / 100),
    latency: { mean: values.reduce((sum, one) => sum + one, 0) / values.length, max: at(0.9999) },
    lag: { p50: 0.01, p90: 0.02, p99: 0.03, p999: 0.04, max: 0.05 },
    histograms: { latency: histogramOf(values), lag: histogramOf([1e-5, 2e-5]) },
    openLoop: { offered: rate, achieved: Math.min(rate, capacity) },
    self: { bound: false },
  } satisfies Partial<Record<keyof LoadResult, unknown>>
  return load as unknown as LoadResult
}
