import { formatMicros, formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import type { Claim, Measured, ProbeContext, Study, System, Workload } from '../../src/model/experiment.ts'
import {
  computePoint,
  measurePoint,
  measureRate,
  measureStampede,
  missesOf,
  missing,
  type Point,
  STORED,
} from './probes.ts'

const APP = { package: 'bench/studies/microcache/subjects/page', role: 'page' }

const LOCK = 'proxy_cache_lock on;'
const UPDATING = `${LOCK} proxy_cache_use_stale updating;`

const alone = (title: string): System => ({ title, app: APP })
const proxied = (title: string): System => ({ title, app: APP, nginx: { front: 'bare' } })
const cached = (title: string, lines: string): System => ({
  title,
  app: APP,
  nginx: { front: 'microcache', lines },
})

const ask = (path: string): Workload => ({
  path,
  expect: { includes: ['<!DOCTYPE html>', '50 of 50', '</html>'] },
  isProven: true,
})

/** React takes as long to become warm behind a proxy as alone. */
const WARMUP_MS = 2500

/** What a request costs a server that has nothing else to do meanwhile: at this rate, a miss takes a tenth of the core. */
const RATE = 200

const COSTS: Readonly<Record<string, System>> = {
  alone: { ...alone('the app alone'), warmupMs: WARMUP_MS },
  proxied: { ...proxied('NGINX without a cache'), warmupMs: WARMUP_MS },
  hit: { ...cached('a hit', UPDATING), warmupMs: WARMUP_MS },
  miss: { ...missing(cached('a miss', UPDATING)), warmupMs: WARMUP_MS },
}

/** The same without a pause. The miss is left out: it waits for the disk, so it cannot fill its core. */
const FULL: Readonly<Record<string, System>> = Object.fromEntries(
  Object.entries(COSTS).flatMap(([name, system]) => (name === 'miss' ? [] : [[`full-${name}`, system]])),
)

/** Rendered so often, the page takes about as long as WordPress took the source: 180 ms. */
const HEAVY = '/page?for=1&times=1000'

const SOURCE: Readonly<Record<string, System>> = {
  'source-alone': alone('the app alone'),
  'source-proxied': proxied('NGINX without a cache'),
  'source-basic': cached('cached for a second', ''),
  'source-tuned': cached('with lock and updating', UPDATING),
}

const POINTS: Readonly<Record<string, Point>> = {
  'few URLs': { rate: 200, seconds: 1, urls: 100 },
  'few URLs, longer': { rate: 200, seconds: 4, urls: 100 },
  'many URLs': { rate: 200, seconds: 1, urls: 1000 },
}

const CURVE: Readonly<Record<string, System>> = Object.fromEntries(
  Object.keys(POINTS).flatMap((name) => [
    [`measured ${name}`, cached(`${name}: measured`, UPDATING)],
    [`computed ${name}`, cached(`${name}: computed`, UPDATING)],
  ]),
)

const STAMPEDE: Readonly<Record<string, System>> = {
  'expired-none': cached('expired, no lock', ''),
  'expired-lock': cached('expired, lock', LOCK),
  'expired-updating': cached('expired, lock and updating', UPDATING),
  'new-updating': cached('never stored, lock', UPDATING),
}

const systems = { ...FULL, ...COSTS, ...SOURCE, ...CURVE, ...STAMPEDE }

/** A race of long runs. */
function probe(
  names: readonly string[],
  expectedMs: number,
  measure: (system: System, name: string, context: ProbeContext) => ReturnType<typeof measurePoint>,
) {
  return {
    systems: names,
    expectedMs,
    probe: (name: string, context: ProbeContext) => {
      const system = systems[name]
      if (system === undefined) throw new Error(`There is no system ${name}.`)
      return measure(system, name, context)
    },
  }
}

function point(name: string): Point {
  const found = POINTS[name.replace(/^(?:measured|computed) /, '')]
  if (found === undefined) throw new Error(`There is no point ${name}.`)
  return found
}

const published = (
  id: string,
  says: string,
  over: string,
  rates: readonly [number, number],
  because?: Claim['because'],
): Claim => ({
  id,
  says,
  race: 'as the source',
  metric: 'rate',
  over,
  under: 'source-alone',
  published: rates,
  ...(because && { because }),
})

/** See docs/studies/microcache.md. */
export const microcache: Study = {
  name: 'microcache',
  title: 'a cache for a second in NGINX',
  question: 'What does it gain to keep responses in NGINX for a second, and what does it cost?',
  source: {
    title: 'The Benefits of Microcaching with NGINX',
    url: 'https://blog.nginx.org/blog/benefits-of-microcaching-nginx',
    machine: 'a server with WordPress that it does not describe',
    tool: 'ab -c 10 -t 30 -k',
  },
  systems,
  races: {
    'full load': { systems: Object.keys(FULL), workload: ask(STORED), connections: 16 },
    costs: {
      systems: Object.keys(COSTS),
      workload: { ...ask(STORED), rate: RATE },
      connections: 16,
      sliceMs: 250,
    },
    'as the source': probe(Object.keys(SOURCE), 9500, (system, _, context) =>
      measureRate(system, HEAVY, context),
    ),
    curve: probe(Object.keys(CURVE), 18_000, (system, name, context) =>
      name.startsWith('measured')
        ? measurePoint(system, point(name), context)
        : computePoint(system, point(name), context),
    ),
    stampede: probe(Object.keys(STAMPEDE), 4000, (system, name, context) =>
      measureStampede(system, name.startsWith('expired'), context),
    ),
  },
  claims: [
    published(
      'proxied',
      'NGINX in front costs no rate (5.53 and 5.63 per second)',
      'source-proxied',
      [5.63, 5.53],
      compareProxied,
    ),
    published('basic', 'Cached for a second, 108 times the rate (600)', 'source-basic', [600, 5.53]),
    published(
      'tuned',
      'With lock and old responses, up to 400 times the rate (2,185)',
      'source-tuned',
      [2185, 5.53],
      compareCosts,
    ),
    ...Object.keys(POINTS).map(
      (name): Claim => ({
        id: name.toLowerCase().replaceAll(/,? /g, '-'),
        says: `the cost of ${describe(name)} follows from hits and misses`,
        ours: true,
        race: 'curve',
        metric: 'cpu',
        over: `measured ${name}`,
        under: `computed ${name}`,
        published: [1, 1],
        because: ({ value }) => compareMisses(name, value('curve', `measured ${name}`, 'origin')),
      }),
    ),
  ],
  steps: [
    ...stepsOf('full load', 'full-'),
    ...stepsOf('costs', ''),
    { what: 'a miss instead: it is stored', race: 'costs', from: 'proxied', to: 'miss' },
  ],
}

function stepsOf(race: string, prefix: string) {
  const steps = [
    { what: 'NGINX in front', to: 'proxied' },
    { what: 'a hit instead of the app', to: 'hit' },
  ]
  return steps.map(({ what, to }) => ({
    what: `${what}, ${race === 'costs' ? `${RATE} per second` : race}`,
    race,
    from: `${prefix}alone`,
    to: `${prefix}${to}`,
  }))
}

function compareMisses(name: string, origin: number | undefined): string | null {
  if (origin === undefined) return null
  return `Of the requests, ${formatPercent(origin)} reached the app; ${formatPercent(missesOf(point(name)))} should miss.`
}

function describe(name: string): string {
  const { rate, seconds, urls } = point(name)
  return `${rate} requests per second over ${urls.toLocaleString('en-US')} URLs, ${seconds} s each,`
}

function compareProxied({ value, cpu }: Measured): string | null {
  const page = value('full load', 'full-alone', 'cpu')
  const { proxy } = cpu('full load', 'full-proxied')
  if (page === undefined || !proxy) return null
  return `NGINX takes ${formatMicros(proxy)} µs of CPU for a request. That is much beside a page of ${formatMicros(page)} µs, and nothing beside one that takes 1,000 times as long.`
}

function compareCosts({ value }: Measured): string | null {
  const [page, hit] = ['full-alone', 'full-hit'].map((system) => value('full load', system, 'cpu'))
  if (page === undefined || hit === undefined) return null
  return (
    `The gain is what the page costs, and no property of the cache: a hit costs ${formatMicros(hit)} µs of CPU. A page that is rendered once costs ` +
    `${formatMicros(page)}, so at most ${formatRatio(page / hit)} times the rate is gained; the page here is rendered 1,000 times, to be as slow as the source's.`
  )
}
