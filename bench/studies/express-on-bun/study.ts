import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Claim, LoadRace, Study, System } from '../../src/result/experiment.ts'
import { SUBJECTS } from '../overhead/study.ts'
import { toolRace } from '../tool.ts'

/** The same apps, which keep the contract, on Node and on Bun. */

/** Not h3, which serves by Bun.serve on Bun and does not start there. */
const FRAMEWORKS = ['express', 'koa', 'hono', 'fastify'] as const

type Runtime = 'node' | 'bun'
const NAMES: Readonly<Record<Runtime, string>> = { node: 'Node', bun: 'Bun' }
const RUNTIMES = Object.keys(NAMES) as Runtime[]

type Role = 'hello' | 'ssr'

/** The same for both runtimes: a ratio of cold programs is one of their compilers. */
const WARMUP_MS = 1500

const app = (framework: string, runtime: Runtime, role: Role): System => ({
  title: `${framework} on ${NAMES[runtime]}`,
  app: { package: `apps/${framework}`, role, runtime },
  warmupMs: WARMUP_MS,
})

/** A hello as the documentation writes it, without the contract: the nearest to what bun.com measured. */
const bare = (role: 'express' | 'node', runtime: Runtime): System => ({
  title: `${role === 'node' ? 'node:http' : 'bare Express'} on ${NAMES[runtime]}`,
  app: { package: SUBJECTS, role: `${role}-bare`, runtime },
  warmupMs: WARMUP_MS,
})

const onBoth = (name: string, of: (runtime: Runtime) => System): Readonly<Record<string, System>> =>
  Object.fromEntries(RUNTIMES.map((runtime) => [`${name} ${runtime}`, of(runtime)]))

const bunServe = (role: Role): System => ({
  title: 'Bun.serve',
  app: { package: 'apps/bun', role },
  warmupMs: WARMUP_MS,
})

/** The other generator. It sleeps while it waits, and shares the cores. */
const WRK = 'hello by wrk'

const HELLO: Readonly<Record<string, System>> = {
  ...Object.assign({}, ...FRAMEWORKS.map((name) => onBoth(name, (runtime) => app(name, runtime, 'hello')))),
  ...onBoth('bare', (runtime) => bare('express', runtime)),
  ...onBoth('http', (runtime) => bare('node', runtime)),
  serve: bunServe('hello'),
  // The most that a generator can ask for, of a server that does nothing.
  ceiling: { title: 'NGINX alone', nginx: { front: 'return-200' }, serverBound: false },
}

const PAGE: Readonly<Record<string, System>> = {
  ...Object.assign(
    {},
    ...FRAMEWORKS.map((name) => onBoth(`${name} page`, (runtime) => app(name, runtime, 'ssr'))),
  ),
  'serve page': bunServe('ssr'),
}

const race = (systems: Readonly<Record<string, System>>, role: Role, connections: number): LoadRace => ({
  systems: Object.keys(systems),
  workload: WORKLOADS[role],
  connections,
})

/** Bun against Node. */
const claim = (
  id: string,
  says: string,
  published: Claim['published'],
  more: Partial<Pick<Claim, 'because' | 'race' | 'metric'>> = {},
): Claim => {
  const name = id.startsWith('bare') ? 'bare' : 'express'
  return {
    id,
    says,
    race: 'hello',
    metric: 'rate',
    over: `${name} bun`,
    under: `${name} node`,
    published,
    ...more,
  }
}

/** See docs/studies/express-on-bun.md. */
export const expressOnBun: Study = {
  name: 'express-on-bun',
  title: 'the same Express app on Node and on Bun',
  question: 'Is an Express app faster on Bun than on Node? Are other apps that were written for Node?',
  source: {
    title: 'the home page of Bun, and oven-sh/bun issue 35436',
    url: 'https://github.com/oven-sh/bun/issues/35436',
    machine: 'two machines with Linux on x64',
    tool: 'a tool that we do not know (the home page), and a client written with fetch in Bun (the issue)',
  },
  systems: { ...HELLO, ...PAGE },
  races: {
    hello: race(HELLO, 'hello', 64),
    [WRK]: toolRace(['express node', 'express bun', 'bare node', 'bare bun', 'ceiling'], {
      name: 'wrk',
      connections: 64,
      seconds: 5,
      path: WORKLOADS.hello.path,
    }),
    page: race(PAGE, 'ssr', 8),
  },
  claims: [
    claim(
      'bare',
      "Express's hello is 3.10 times as fast on Bun (59,026 and 19,039 per second)",
      [59_026, 19_039],
    ),
    claim('bare-by-wrk', 'The same, driven by wrk', [59_026, 19_039], {
      race: WRK,
      because: 'Of NGINX alone each generator gets as much as it can ask for.',
    }),
    claim('app', 'An app of Express is 0.73 times as fast on Bun (11,800 and 16,200)', [11_800, 16_200]),
    claim('app-by-wrk', 'The same, driven by wrk', [11_800, 16_200], { race: WRK }),
    claim('app-cpu', 'A request takes 1.94 times the CPU on Bun (122 and 63 µs)', [122, 63], {
      metric: 'cpu',
    }),
  ],
  steps: [
    step('bare Express', 'hello', 'bare'),
    step('Express taken away: node:http', 'hello', 'http'),
    ...FRAMEWORKS.map((name) => step(`${name}, hello`, 'hello', name)),
    ...FRAMEWORKS.map((name) => step(`${name}, page`, 'page', `${name} page`)),
    { what: 'Bun.serve instead of node:http', race: 'hello', from: 'http bun', to: 'serve' },
  ],
}

/** What it costs to run the same on Bun. */
function step(what: string, race: string, name: string) {
  return { what: `Bun: ${what}`, race, from: `${name} node`, to: `${name} bun` }
}
