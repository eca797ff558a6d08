import { exactly } from '@startgrid/loadgen/expectation.ts'
import type { Study, System } from '../../src/result/experiment.ts'
import { claimsOf } from '../claims.ts'
import { toolRace } from '../tool.ts'
import { measureMessages } from './messages.ts'

type Runtime = 'node' | 'bun'

const NAMES: Readonly<Record<Runtime, string>> = { node: 'Node', bun: 'Bun' }

/** The source's machine had eight cores, whatever the size of its pool. */
const MOST_CORES = 8

/** Messages per second on the source's machine, by runtime and workers. */
const PUBLISHED: Readonly<Record<Runtime, Readonly<Record<number, number>>>> = {
  node: { 2: 20_061.79, 4: 37_200, 8: 64_000, 10: 64_000, 24: 59_000 },
  bun: { 2: 34_146, 4: 62_600, 8: 138_000, 10: 154_000 },
}

const pools = (Object.keys(PUBLISHED) as Runtime[]).flatMap((runtime) =>
  Object.entries(PUBLISHED[runtime]).map(([size, rate]) => {
    return { name: `${runtime}-${size}`, runtime, size: Number(size), rate }
  }),
)

const SERVERS = 'bench/studies/worker-pool/servers'

/** A route of a server: the process itself responds to `/local`, and its pool to `/helloworld`. */
const route = (title: string, role: 'fastify' | 'bun', path: string): System => ({
  title,
  app: { package: SERVERS, role, runtime: role === 'bun' ? 'bun' : 'node', env: { POOL_SIZE: '8' } },
  workload: { path, expect: exactly('{"hello":"world"}') },
  // In a pool, the process that distributes the messages must be busy, not each worker.
  ...(path === '/helloworld' && { cores: MOST_CORES - 1, serverBound: false }),
})

const SYSTEMS: Readonly<Record<string, System>> = {
  ...Object.fromEntries(
    pools.map(({ name, runtime, size }) => [
      name,
      { title: `qoper8-cp on ${NAMES[runtime]}, ${size}`, cores: Math.min(size, MOST_CORES) },
    ]),
  ),
  fastify: route('Fastify', 'fastify', '/local'),
  'fastify-pool': route('Fastify, pool of 8', 'fastify', '/helloworld'),
  bun: route('Bun.serve', 'bun', '/local'),
  'bun-pool': route('Bun.serve, pool of 8', 'bun', '/helloworld'),
}

const messages = (over: string, under: string, says: string) => {
  const rateOf = (name: string) => pools.find((pool) => pool.name === name)?.rate ?? Number.NaN
  const printed = { [over]: rateOf(over), [under]: rateOf(under) }
  return claimsOf('messages', 'rate')(`${over}-over-${under}`, says, printed)
}

const http = (says: string, printed: Readonly<Record<string, number>>) =>
  claimsOf('http', 'rate')(Object.keys(printed).join('-over-'), says, printed)

/** See docs/studies/worker-pool.md. */
export const workerPool: Study = {
  name: 'worker-pool',
  title: 'a pool of child processes, alone and behind HTTP',
  question:
    'How many messages does a pool of workers handle on Node and on Bun, and what is left of a server whose requests all go through it?',
  source: {
    title: 'Benchmarking the QOper8 Package (mg-showcase)',
    url: 'https://github.com/robtweed/mg-showcase',
    machine: 'M1 Mac Mini (8 cores), in a container',
    tool: 'the benchmark of qoper8-cp with a delay tuned by hand; autocannon -d 10 with 6 to 32 connections',
  },
  systems: SYSTEMS,
  races: {
    messages: {
      systems: pools.map(({ name }) => name),
      probe: (name, context) => {
        const pool = pools.find((one) => one.name === name)
        if (pool === undefined) throw new Error(`There is no pool ${name}.`)
        return measureMessages(pool, context)
      },
      tool: 'qoper8-cp/benchmark',
      expectedMs: 12_000,
    },
    http: {
      systems: ['fastify', 'fastify-pool', 'bun', 'bun-pool'],
      workload: { path: '/local', expect: exactly('{"hello":"world"}') },
      connections: 32,
    },
    'http by autocannon': toolRace(
      ['fastify', 'fastify-pool', 'bun', 'bun-pool'],
      { name: 'autocannon', connections: 32, seconds: 10, path: '/local' },
      (system) => (system.endsWith('-pool') ? { path: '/helloworld' } : {}),
    ),
  },
  claims: [
    messages(
      'node-4',
      'node-2',
      'on Node, 4 workers handle 1.85 times the messages of 2 (20,000 and 37,200 per second)',
    ),
    messages(
      'node-8',
      'node-2',
      'on Node, 8 workers handle 3.2 times the messages of 2 (20,000 and 64,000 per second)',
    ),
    messages(
      'node-10',
      'node-8',
      'on Node, the plateau is near the number of cores: 10 workers are no faster than 8',
    ),
    messages('node-24', 'node-10', 'on Node, 24 workers lose about 10 %'),
    messages('bun-2', 'node-2', 'with 2 workers Bun is 1.7 times as fast as Node'),
    messages('bun-4', 'node-4', 'with 4 workers Bun is 1.7 times as fast as Node'),
    messages('bun-8', 'node-8', 'with 8 workers Bun is 2.2 times as fast as Node'),
    messages('bun-10', 'node-10', 'with 10 workers Bun is 2.4 times as fast as Node'),
    http('through the pool, Fastify is 0.41 times as fast as direct', {
      'fastify-pool': 21_000,
      fastify: 51_000,
    }),
    http('through the pool, Bun.serve is 0.46 times as fast as direct', { 'bun-pool': 49_000, bun: 106_000 }),
    http('Bun.serve through the pool is as fast as Fastify direct (0.96)', {
      'bun-pool': 49_000,
      fastify: 51_000,
    }),
  ],
}
