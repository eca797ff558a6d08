import { pageOf, WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Claim, ProbeRace, Study, System, Workload } from '../../src/result/experiment.ts'
import { claimsOf, step } from '../claims.ts'
import { toolRace } from '../tool.ts'

type Role = 'hello' | 'ssr'

const njs = (role: Role, engine: 'njs' | 'qjs', workers: number): System => ({
  title: `njs${engine === 'qjs' ? ' on QuickJS' : ''}, ${workers === 1 ? '1 worker' : `${workers} workers`}`,
  app: { package: 'apps/njs', role, env: { NJS_ENGINE: engine, NJS_WORKERS: String(workers) } },
  cores: workers,
})

const koa = (title: string, role: Role, flags: readonly string[] = []): System => ({
  title,
  app: { package: 'apps/koa', role, flags },
})

/** The source's four, on njs's own engine as then, and QuickJS. */
const systemsOf = (role: Role): Readonly<Record<string, System>> => ({
  [`${role}-njs`]: njs(role, 'njs', 1),
  [`${role}-njs-8`]: njs(role, 'njs', 8),
  [`${role}-qjs`]: njs(role, 'qjs', 1),
  [`${role}-koa`]: koa('koa', role),
  [`${role}-jitless`]: koa('koa, --jitless', role, ['--jitless']),
})

const HELLO = systemsOf('hello')
const SSR = systemsOf('ssr')

/** What the page's script refuses before it renders anything. */
const REFUSED: Workload = { path: '/?items=none', status: 400, expect: { includes: ['"status":400'] } }

/** A cheap response of a bundle of a few lines, and a refusal of that with React. The context makes the difference, and some microseconds are the refusal's. */
const CONTEXTS: Readonly<Record<string, System>> = {
  'small-njs': { ...njs('hello', 'njs', 1), title: 'njs, a line, small bundle', workload: WORKLOADS.hello },
  'large-njs': { ...njs('ssr', 'njs', 1), title: 'njs, a refusal, with React', workload: REFUSED },
  'small-qjs': { ...njs('hello', 'qjs', 1), title: 'QuickJS, a line, small', workload: WORKLOADS.hello },
  'large-qjs': { ...njs('ssr', 'qjs', 1), title: 'QuickJS, a refusal, with React', workload: REFUSED },
}

/** 13 items make 3.6 KB, as the source's page had. */
const PAGE = pageOf(13)

/** Requests per second that wrk printed. */
const PUBLISHED = {
  hello: { njs: 54_990.91, 'njs-8': 55_007.44, jitless: 6922.87, koa: 39_896.92 },
  ssr: { njs: 224.84, 'njs-8': 1320.39, jitless: 834.82, koa: 3182.21 },
} as const

const byWrk = (role: Role, { path }: Workload): ProbeRace =>
  toolRace(
    ['njs', 'njs-8', 'koa', 'jitless'].map((name) => `${role}-${name}`),
    { name: 'wrk', connections: 400, threads: 6, seconds: 30, path },
  )

type Published = keyof (typeof PUBLISHED)['hello']

const claim = (
  race: Role,
  over: Published,
  under: Published,
  says: string,
  more: Pick<Claim, 'because'> = {},
) => {
  const { [over]: ours, [under]: theirs } = PUBLISHED[race]
  const printed = { [`${race}-${over}`]: ours, [`${race}-${under}`]: theirs }
  return claimsOf(race, 'rate')(`${race}-${over}-over-${under}`, `${race}: ${says}`, printed, more)
}

/** See docs/studies/njs-vs-node.md. */
export const njsVsNode: Study = {
  name: 'njs-vs-node',
  title: 'JavaScript in NGINX, on Node, and on Node without a compiler',
  question: 'Is JavaScript inside NGINX faster than a server on Node, and what does it cost to interpret it?',
  source: {
    title: 'njs and Koa, hello world and React SSR',
    machine: 'Core i9-9880H (8 cores), macOS 10.15, 2020',
    tool: 'wrk -t6 -c400 -d30s; each run had 150 connect errors, so that at most 250 of its 400 connections existed',
  },
  systems: { ...HELLO, ...SSR, ...CONTEXTS },
  races: {
    hello: { systems: Object.keys(HELLO), workload: WORKLOADS.hello, connections: 64 },
    ssr: { systems: Object.keys({ ...SSR, ...CONTEXTS }), workload: PAGE, connections: 16 },
    'hello by wrk': byWrk('hello', WORKLOADS.hello),
    'ssr by wrk': byWrk('ssr', PAGE),
  },
  claims: [
    claim('hello', 'njs', 'koa', 'njs is 1.38 times as fast as Koa'),
    claim('hello', 'njs', 'jitless', 'njs is 7.9 times as fast as Koa without a compiler'),
    claim('hello', 'njs-8', 'njs', 'eight workers of njs are no faster than one', {
      because:
        'In the source one worker and eight served the same 55,000 per second, so that something else than the workers was the limit: the generator and the system had the same eight cores.',
    }),
    claim('ssr', 'koa', 'njs', 'Koa is 14.2 times as fast as one worker of njs'),
    claim('ssr', 'koa', 'njs-8', 'Koa is 2.4 times as fast as eight workers of njs'),
    claim('ssr', 'jitless', 'njs', 'Koa without a compiler is 3.7 times as fast as one worker of njs', {
      because: "Both interpret; njs also makes a context with React's bundle for each request.",
    }),
    claim('ssr', 'njs-8', 'jitless', 'eight workers of njs are 1.58 times as fast as Koa without a compiler'),
    claim('ssr', 'njs-8', 'njs', 'eight workers of njs are 5.9 times as fast as one'),
  ],
  steps: [
    step('hello: Koa without a compiler', 'hello', 'hello-koa', 'hello-jitless'),
    step('hello: njs instead of Koa', 'hello', 'hello-koa', 'hello-njs'),
    step('hello: QuickJS instead of njs', 'hello', 'hello-njs', 'hello-qjs'),
    step('SSR: Koa without a compiler', 'ssr', 'ssr-koa', 'ssr-jitless'),
    step('SSR: njs instead of that', 'ssr', 'ssr-jitless', 'ssr-njs'),
    step('SSR: QuickJS instead of njs', 'ssr', 'ssr-njs', 'ssr-qjs'),
    step("njs: a context with the page's bundle", 'ssr', 'small-njs', 'large-njs'),
    step('njs: rendering the page', 'ssr', 'large-njs', 'ssr-njs'),
    step("QuickJS: the page's bundle, and a refusal", 'ssr', 'small-qjs', 'large-qjs'),
    step('QuickJS: rendering the page', 'ssr', 'large-qjs', 'ssr-qjs'),
  ],
}
