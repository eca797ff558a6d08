import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type { FrontKind, Study, System } from '../../src/result/experiment.ts'
import { claimsOf, step } from '../claims.ts'
import { type Tool, toolRace } from '../tool.ts'

const app = (title: string, path: string, role = 'hello', front?: FrontKind): System => ({
  title,
  app: { package: path, role },
  ...(front !== undefined && { nginx: { front } }),
})

/** A new connection per request leaves few requests per second to become warm by: after 2 s, Fastify's cost 41 % more than later. */
const NAIVE_WARMUP_MS = 5000

/** A server by itself, and behind NGINX with kept connections and with one per request. */
const inAllWays = (name: string, title: string): Readonly<Record<string, System>> => ({
  [name]: app(title, `apps/${name}`),
  [`${name}-naive`]: {
    ...app(`${title}, naive NGINX`, `apps/${name}`, 'hello', 'nginx-naive'),
    warmupMs: NAIVE_WARMUP_MS,
  },
  [`${name}-nginx`]: app(`${title}, NGINX`, `apps/${name}`, 'hello', 'nginx'),
})

/** The same handler on a unix socket with a connection per request, with and without a second HTTP parser. */
const parsed = (title: string, role: string, front: FrontKind): System => ({
  ...app(title, 'bench/studies/nginx-proxy/subjects/scgi', role, front),
  warmupMs: NAIVE_WARMUP_MS,
})

const SYSTEMS: Readonly<Record<string, System>> = {
  nginx: { title: 'NGINX alone', nginx: { front: 'return-200' } },
  ...inAllWays('fastify', 'Fastify'),
  ...inAllWays('bun', 'Bun.serve'),
  http: parsed('HTTP to a socket', 'http', 'bare-naive-socket'),
  scgi: parsed('SCGI to a socket', 'scgi', 'scgi-socket'),
}

const claim = claimsOf('hello', 'rate')

/** One autocannon is one core of generator. The question is whether it or the server is the limit. */
const ONE = 'hello by autocannon'
const FOUR = 'hello by autocannon, 4 workers'

const AUTOCANNON: Tool = { name: 'autocannon', connections: 64, seconds: 5, path: WORKLOADS.hello.path }

/** See docs/studies/nginx-proxy.md. */
export const nginxProxy: Study = {
  name: 'nginx-proxy',
  title: 'what NGINX in front of a JavaScript server costs',
  question:
    'How much does a JavaScript server lose behind NGINX, and is it the second parsing of HTTP that costs it?',
  source: {
    title: 'The Elephant in the JavaScript Web Framework Room (mg-showcase)',
    url: 'https://github.com/robtweed/mg-showcase',
    machine: 'M1 Mac Mini (8 cores), in a container; NGINX with 2 workers',
    tool: 'autocannon -c 64 -d 5, for NGINX also with -w 4',
  },
  systems: SYSTEMS,
  races: {
    hello: { systems: Object.keys(SYSTEMS), workload: WORKLOADS.hello, connections: 64 },
    [ONE]: toolRace(['nginx', 'bun', 'fastify', 'fastify-naive'], AUTOCANNON),
    [FOUR]: toolRace(['nginx'], { ...AUTOCANNON, threads: 4 }),
  },
  claims: [
    claim(
      'nginx-over-fastify',
      'NGINX alone, driven by 4 generator workers, is 4.0 times as fast as Fastify',
      {
        nginx: 200_000,
        fastify: 50_000,
      },
    ),
    claim('nginx-over-bun', 'NGINX alone, driven by 4 generator workers, is 1.9 times as fast as Bun.serve', {
      nginx: 200_000,
      bun: 106_000,
    }),
    claim(
      'nginx-over-bun-by-one',
      'Driven by one generator worker, NGINX alone is 0.74 times as fast as Bun.serve',
      { nginx: 78_000, bun: 106_000 },
      { race: ONE },
    ),
    claim(
      'generator-was-the-limit',
      'The generator was the limit: with more of it, NGINX alone is 2.6 times as fast',
      { nginx: 200_000 },
      { against: ONE, under: 'nginx', published: [200_000, 78_000] },
    ),
    claim('bun-over-fastify', 'Bun.serve is 2.1 times as fast as Fastify', { bun: 106_000, fastify: 51_000 }),
    claim(
      'naive-over-direct',
      'Behind NGINX, as most configure it, Fastify is 0.43 times as fast as direct',
      {
        'fastify-naive': 21_000,
        fastify: 49_000,
      },
    ),
    // No figure was published. If the second parse were the reason, performance would return without it.
    claim(
      'parsing-twice',
      'Parsing HTTP twice is the reason: NGINX that hands over what it has parsed is 2.3 times as fast',
      { scgi: 49_000, http: 21_000 },
      { because: 'No figure was published; 2.33 is what the proxy took.' },
    ),
  ],
  steps: [
    step('NGINX in front of Fastify', 'hello', 'fastify', 'fastify-nginx'),
    step('Fastify: + a connection per request', 'hello', 'fastify-nginx', 'fastify-naive'),
    step('NGINX in front of Bun', 'hello', 'bun', 'bun-nginx'),
    step('Bun: + a connection per request', 'hello', 'bun-nginx', 'bun-naive'),
    step('SCGI instead of a second HTTP', 'hello', 'http', 'scgi'),
  ],
}
