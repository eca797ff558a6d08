import { readFileSync } from 'node:fs'
import { formatMicros, formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { exactly } from '@startgrid/loadgen'
import { ASSETS, ASSETS_DIR } from '@startgrid/shared/page/server.js'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type {
  Claim,
  FrontKind,
  LoadRace,
  Measured,
  Study,
  System,
  Workload,
} from '../../src/model/experiment.ts'

const app = (title: string, path: string, role = 'hello', front?: FrontKind): System => ({
  title,
  app: { package: path, role },
  ...(front !== undefined && { nginx: { front } }),
})

/** The source's NGINX had two workers, and a generator of one or four. */
const nginxAlone = (workers: number): System => ({
  title: workers === 1 ? 'NGINX alone' : `NGINX alone, ${workers} workers`,
  nginx: { front: 'return-200', workers },
  cores: workers,
})

/** One autocannon is one core of generator. The question is whether it or the server is the limit. */
const byAutocannon = (system: System): System => ({
  ...system,
  title: `${system.title} by autocannon`,
  generator: 'autocannon',
  serverBound: false,
})

const njs = (engine: 'njs' | 'qjs'): System => ({
  title: engine === 'njs' ? 'njs in NGINX' : 'njs in NGINX (QuickJS)',
  app: { package: 'apps/njs', role: 'hello', env: { NJS_ENGINE: engine } },
})

/** After 2 s, enough over TCP, node:http cost 20 % more than later; profiles of 250 ms slices are at their end in the eleventh. */
const SOCKET_WARMUP_MS = 3000

/** A new connection per request leaves few requests per second to become warm by: after 2 s, Fastify's cost 41 % more than later. */
const NAIVE_WARMUP_MS = 5000

/** A server by itself, and behind NGINX in the three ways that the grid has. */
const inAllWays = (name: string, title: string, path: string): Readonly<Record<string, System>> => ({
  [name]: app(title, path),
  [`${name}-naive`]: {
    ...app(`${title}, naive NGINX`, path, 'hello', 'nginx-naive'),
    warmupMs: NAIVE_WARMUP_MS,
  },
  [`${name}-nginx`]: app(`${title}, NGINX`, path, 'hello', 'nginx'),
  [`${name}-socket`]: {
    ...app(`${title}, NGINX, socket`, path, 'hello', 'nginx-socket'),
    ...(name === 'node' && { warmupMs: SOCKET_WARMUP_MS }),
  },
})

const HELLO: Readonly<Record<string, System>> = {
  nginx: nginxAlone(1),
  'nginx-autocannon': byAutocannon(nginxAlone(1)),
  ...inAllWays('fastify', 'Fastify', 'apps/fastify'),
  ...inAllWays('bun', 'Bun.serve', 'apps/bun'),
  'bun-autocannon': byAutocannon(app('Bun.serve', 'apps/bun')),
  ...inAllWays('node', 'node:http', 'apps/node'),
  fastcgi: app('FastCGI, NGINX', 'bench/studies/nginx-proxy/subjects/fastcgi', 'json', 'fastcgi'),
  'fastcgi-socket': app(
    'FastCGI, NGINX, socket',
    'bench/studies/nginx-proxy/subjects/fastcgi',
    'json',
    'fastcgi-socket',
  ),
  njs: njs('njs'),
  qjs: njs('qjs'),
}

const WORKERS: Readonly<Record<string, System>> = {
  nginx: nginxAlone(1),
  'nginx-2': nginxAlone(2),
  'nginx-4': nginxAlone(4),
}

/** Its files cost 30 % more than at the end for 3.5 s of 250 ms slices, and then no more: a step, which 2.5 s end before. */
const FASTIFY_FILES_WARMUP_MS = 4500

const FILES: Readonly<Record<string, System>> = {
  // It has nothing to compile.
  'files-nginx': { title: 'NGINX alone', nginx: { front: 'static' }, warmupMs: 500 },
  ...Object.fromEntries(
    CATALOGUE.filter(({ runtime }) => runtime !== 'nginx').map(({ name: framework }) => [
      `files-${framework}`,
      {
        ...app(framework, `apps/${framework}`, 'ssr'),
        ...(framework === 'fastify' && { warmupMs: FASTIFY_FILES_WARMUP_MS }),
      },
    ]),
  ),
}

/** One of the page's files, whole and not compressed. */
function file(extension: string): Workload {
  const path = ASSETS.find((url) => url.endsWith(extension)) ?? '/assets/'
  return { path, expect: exactly(readFileSync(new URL(path.replace('/assets/', ''), ASSETS_DIR))) }
}

const files = (extension: string, connections: number): LoadRace => ({
  systems: Object.keys(FILES),
  workload: file(extension),
  connections,
  warmupMs: 2500,
})

const claim = (
  id: string,
  [over, under]: readonly [over: string, under: string],
  published: Claim['published'],
  says: string,
  because: Claim['because'] = (measured) => compareCpu(measured, over, under),
): Claim => ({ id, says, race: 'hello', metric: 'rate', over, under, published, because })

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
  systems: { ...HELLO, ...WORKERS, ...FILES },
  races: {
    hello: {
      systems: Object.keys(HELLO),
      workload: WORKLOADS.hello,
      connections: 64,
      openLoop: ['nginx', 'fastify', 'fastify-naive', 'fastify-nginx', 'bun', 'node-nginx', 'fastcgi'],
    },
    workers: { systems: Object.keys(WORKERS), workload: WORKLOADS.hello, connections: 64 },
    'small file': files('.css', 64),
    'large file': files('.js', 16),
  },
  claims: [
    claim(
      'nginx-over-fastify',
      ['nginx', 'fastify'],
      [200_000, 50_000],
      'NGINX alone, driven by 4 generator workers, is 4.0 times as fast as Fastify',
    ),
    claim(
      'nginx-over-bun',
      ['nginx', 'bun'],
      [200_000, 106_000],
      'NGINX alone, driven by 4 generator workers, is 1.9 times as fast as Bun.serve',
    ),
    claim(
      'nginx-over-bun-by-one',
      ['nginx-autocannon', 'bun-autocannon'],
      [78_000, 106_000],
      'Driven by one generator worker, NGINX alone is 0.74 times as fast as Bun.serve',
      explainGenerator,
    ),
    claim(
      'generator-was-the-limit',
      ['nginx', 'nginx-autocannon'],
      [200_000, 78_000],
      'The generator was the limit: with more of it, NGINX alone is 2.6 times as fast',
      explainGenerator,
    ),
    claim(
      'bun-over-fastify',
      ['bun', 'fastify'],
      [106_000, 51_000],
      'Bun.serve is 2.1 times as fast as Fastify',
    ),
    claim(
      'naive-over-direct',
      ['fastify-naive', 'fastify'],
      [21_000, 49_000],
      'Behind NGINX, as most configure it, Fastify is 0.43 times as fast as direct',
      explainProxy,
    ),
    // No figure was published. If the second parse were the reason, performance would return without it.
    claim(
      'parsing-twice',
      ['fastcgi', 'node-nginx'],
      [49_000, 21_000],
      'Parsing HTTP twice is the reason: NGINX that hands over what it has parsed is 2.3 times as fast',
      explainParsing,
    ),
  ],
  steps: [
    { what: 'NGINX in front of Fastify', race: 'hello', from: 'fastify', to: 'fastify-nginx' },
    { what: '+ a new connection per request', race: 'hello', from: 'fastify-nginx', to: 'fastify-naive' },
    { what: 'a socket instead of TCP', race: 'hello', from: 'fastify-nginx', to: 'fastify-socket' },
    { what: 'NGINX in front of Bun', race: 'hello', from: 'bun', to: 'bun-nginx' },
    { what: '+ a new connection per request', race: 'hello', from: 'bun-nginx', to: 'bun-naive' },
    { what: 'NGINX in front of node:http', race: 'hello', from: 'node', to: 'node-nginx' },
    { what: 'FastCGI instead of a second HTTP', race: 'hello', from: 'node-nginx', to: 'fastcgi' },
    { what: 'the same over a socket', race: 'hello', from: 'node-socket', to: 'fastcgi-socket' },
    { what: 'njs instead of a second server', race: 'hello', from: 'node-nginx', to: 'njs' },
  ],
  scaling: [{ title: 'NGINX alone', race: 'workers', workers: { nginx: 1, 'nginx-2': 2, 'nginx-4': 4 } }],
  published: [
    {
      race: 'hello',
      tool: 'autocannon',
      connections: [8, 64, 128],
      threads: 1,
      seconds: 5,
      systems: ['nginx-autocannon', 'bun-autocannon', 'bun', 'fastify', 'fastify-naive'],
      differs:
        'One autocannon is slower than these servers, so what it shows of the fastest of them is itself.',
    },
    {
      race: 'hello',
      tool: 'autocannon',
      connections: [64],
      threads: 4,
      seconds: 5,
      systems: ['nginx'],
      differs:
        'Four workers of autocannon take the cores that servers need, where there are not at least six.',
    },
  ],
}

function compareCpu({ value }: Measured, over: string, under: string): string | null {
  const [mine, other] = [value('hello', over, 'cpu'), value('hello', under, 'cpu')]
  if (mine === undefined || other === undefined) return null
  const names = [over, under].map((name) => HELLO[name]?.title)
  return (
    `With one core each and a generator that is not the limit, a request costs ${formatMicros(mine)} µs of CPU on ${names[0]} and ` +
    `${formatMicros(other)} on ${names[1]}.`
  )
}

function explainGenerator({ coreUse }: Measured): string | null {
  const [nginx, bun] = [coreUse('hello', 'nginx-autocannon'), coreUse('hello', 'bun-autocannon')]
  if (nginx === undefined || bun === undefined) return null
  return `Driven by one autocannon, NGINX used ${formatPercent(nginx)} of its core, and Bun ${formatPercent(bun)}: below 95 % the generator is the limit.`
}

/** Connection reuse, the extra hop and the shared core, each by its own figure. */
function explainProxy({ value, cpu, upstreamConnections }: Measured): string | null {
  const direct = value('hello', 'fastify', 'cpu')
  const [kept, naive] = [value('hello', 'fastify-nginx', 'cpu'), value('hello', 'fastify-naive', 'cpu')]
  const { app: own, proxy } = cpu('hello', 'fastify-naive')
  const [reused, opened] = ['fastify-nginx', 'fastify-naive'].map((name) =>
    upstreamConnections('hello', name),
  )
  if (direct === undefined || kept === undefined || naive === undefined || !own || !proxy) return null
  const counts =
    reused === undefined || opened === undefined
      ? ''
      : ` NGINX opened ${formatRatio(opened)} connections per request to Fastify; keeping them, ${formatRatio(reused)}.`
  return (
    `Of ${formatMicros(naive)} µs per request, Fastify itself is ${formatMicros(direct)}, the hop over kept connections ` +
    `${formatMicros(kept - direct)}, and a new connection each time ${formatMicros(naive - kept)}.${counts} Here both share one core; on two, ` +
    `the busier of them (${formatMicros(Math.max(own, proxy))} µs) would allow ${formatRatio(direct / Math.max(own, proxy))} of the direct rate.`
  )
}

function explainParsing({ value }: Measured): string | null {
  const names = ['node', 'node-nginx', 'fastcgi'] as const
  const [direct, proxied, fastcgi] = names.map((name) => value('hello', name, 'cpu'))
  if (direct === undefined || proxied === undefined || fastcgi === undefined) return null
  const back = (proxied - fastcgi) / (proxied - direct)
  return (
    `No figure was published; 2.33 is what the proxy took. NGINX in front adds ${formatMicros(proxied - direct)} µs of CPU to the ${formatMicros(direct)} of a request, both with connections that ` +
    `stay open; FastCGI, which leaves out the second HTTP parse, takes ${back > 0 ? formatPercent(back) : 'nothing'} of that away.`
  )
}
