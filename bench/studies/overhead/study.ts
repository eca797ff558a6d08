import { findFramework } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { CONNECTIONS, warmupOf } from '../../src/experiment/profiles.ts'
import { pageOf as page, WORKLOADS } from '../../src/experiment/workloads.ts'
import type { FrontKind, LoadRace, Step, Study, System } from '../../src/result/experiment.ts'
import { step } from '../claims.ts'

/** What duties cost: hello and the page of every framework as they are in production, and others without the duties, in the same passes. */

/** The race of the proxy, beside those of the frameworks. */
export const NGINX = 'nginx'

/** NGINX is njs. */
const FRAMEWORKS = CATALOGUE.flatMap(({ name, runtime }) => (runtime === 'nginx' ? [] : name))

/** Whose documentation names packages, or parts of its own, for security headers and a log. */
export const WITH_USUAL: readonly string[] = ['node', 'fastify', 'express', 'koa', 'hono']

/** The race of a framework's page. */
export function pageOf(framework: string): string {
  return `${framework} page`
}

/** CPU per request of one way to serve over that of another one. */
type Ratio = readonly [over: string, under: string]

/** Those whose ways a race has. */
const RATIOS: readonly Ratio[] = [
  ['bare', 'app'],
  ['bare', 'logged'],
  ['usual', 'logged'],
  ['defaults', 'logged'],
]

const NGINX_RATIOS: readonly Ratio[] = [
  ['bare', 'ours'],
  ['bare-naive', 'ours-naive'],
  ['direct', 'ours'],
  ['direct', 'ours-naive'],
]

/** The name of a system: one way to serve in one race. */
function systemOf(race: string, way: string): string {
  return `${race} ${way}`
}

/** Starts what is not an app: `fixtures/bare.ts` of a framework, or the usual packages. */
export const SUBJECTS = 'bench/studies/overhead/subjects/duties'

type Ways = Readonly<Record<string, System>>

/** One that sends the bytes of the app, the app without and with its access log, and the same duties by the usual packages: with its destination of the log, and with theirs. */
function helloWays(framework: string): Ways {
  return {
    bare: subject(framework, 'hello', 'headers'),
    app: app(framework, 'hello', 'app', {}),
    logged: app(framework, 'hello', 'app with log', LOGS),
    ...(WITH_USUAL.includes(framework) && {
      usual: subject(framework, 'hello', 'usual'),
      defaults: subject(framework, 'hello', 'defaults'),
    }),
  }
}

function pageWays(framework: string): Ways {
  return {
    bare: subject(framework, 'ssr', 'headers'),
    logged: app(framework, 'ssr', 'app with log', LOGS),
  }
}

type Role = 'hello' | 'ssr'

const LOGS = { LOG_LEVEL: 'info' }

const TITLES = {
  headers: 'bare',
  usual: 'usual packages',
  defaults: 'packages, own log',
}

function subject(framework: string, role: Role, way: keyof typeof TITLES): System {
  const runtime = findFramework(framework).runtime === 'bun' ? 'bun' : 'node'
  return {
    ...wayOf(framework, role, `${framework}, ${TITLES[way]}`),
    app: { package: SUBJECTS, role: `${framework}-${way}`, runtime },
  }
}

function app(framework: string, role: Role, title: string, env: Record<string, string>): System {
  return {
    ...wayOf(framework, role, `${framework}, ${title}`),
    app: { package: `apps/${framework}`, role, env },
  }
}

/** node/hello behind NGINX: a bare `proxy_pass` and our configuration, both with kept connections and with a new one per request. */
function proxyWays(): Ways {
  const way = (title: string, front?: FrontKind): System => ({
    ...app('node', 'hello', '', {}),
    title,
    ...(front !== undefined && { nginx: { front } }),
  })
  return {
    direct: way('node'),
    bare: way('bare proxy_pass', 'bare'),
    ours: way('our NGINX', 'nginx'),
    'bare-naive': way('bare proxy_pass, naive', 'bare-naive'),
    'ours-naive': way('our NGINX, naive', 'nginx-naive'),
  }
}

/** More code takes longer to become warm: a ratio of cold programs flatters the bare ones. Slow machines need longer than the table says. */
const WARMUP_LONGER = 3

/** A ratio of costs does not ask what limits the rate. */
function wayOf(framework: string, role: Role, title: string): System {
  const warmupMs = WARMUP_LONGER * warmupOf({ framework, role })
  return { title, warmupMs, serverBound: false }
}

interface Compared {
  name: string
  role: Role
  ways: Ways
  ratios: readonly Ratio[]
}

const COMPARED: readonly Compared[] = [
  ...FRAMEWORKS.flatMap((framework): Compared[] => [
    { name: framework, role: 'hello', ways: helloWays(framework), ratios: RATIOS },
    { name: pageOf(framework), role: 'ssr', ways: pageWays(framework), ratios: RATIOS },
  ]),
  { name: NGINX, role: 'hello', ways: proxyWays(), ratios: NGINX_RATIOS },
]

function raceOf({ name, role, ways }: Compared): LoadRace {
  return {
    systems: Object.keys(ways).map((way) => systemOf(name, way)),
    workload: role === 'ssr' ? page(50) : WORKLOADS.hello,
    connections: CONNECTIONS[role],
  }
}

function stepsOf({ name, ways, ratios }: Compared): Step[] {
  const own = ratios.filter((ratio) => ratio.every((way) => way in ways))
  return own.map(([over, under]) =>
    step(`${name}: ${over} over ${under}`, name, systemOf(name, under), systemOf(name, over)),
  )
}

/** See docs/choosing-a-framework.md. */
export const overhead: Study = {
  name: 'overhead',
  title: 'what the duties of an app cost',
  question:
    'What do ids, limits and logs cost hello and a page of each framework, against bare ones with the same headers, and against the usual packages?',
  systems: Object.fromEntries(
    COMPARED.flatMap(({ name, ways }) =>
      Object.entries(ways).map(([way, system]) => [systemOf(name, way), system]),
    ),
  ),
  races: Object.fromEntries(COMPARED.map((one) => [one.name, raceOf(one)])),
  claims: [],
  steps: COMPARED.flatMap(stepsOf),
}
