import { findFramework } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { CONNECTIONS, warmupOf } from '../../src/experiment/profiles.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type { FrontKind, LoadRace, Step, Study, System } from '../../src/model/experiment.ts'

/** What duties cost: hello of every framework as it is in production, and without its duties, in the same passes. */

/** The race of the proxy, beside those of the frameworks. */
export const NGINX = 'nginx'

/** A race for each framework that has a bare hello, and one for the proxy. NGINX is njs. */
const RACES: readonly string[] = [
  ...CATALOGUE.flatMap(({ name, runtime }) => (runtime === 'nginx' ? [] : name)),
  NGINX,
]

/** CPU per request of one way to serve hello over that of another one. */
type Ratio = readonly [over: string, under: string]

const FRAMEWORK_RATIOS: readonly Ratio[] = [
  ['bare', 'app'],
  ['headers', 'app'],
  ['headers', 'logged'],
]

const NGINX_RATIOS: readonly Ratio[] = [
  ['bare', 'ours'],
  ['bare-naive', 'ours-naive'],
  ['direct', 'ours'],
  ['direct', 'ours-naive'],
]

/** The name of a system: one way to serve hello in one race. */
export function systemOf(race: string, way: string): string {
  return `${race} ${way}`
}

/** Starts `fixtures/bare.ts` of a framework. */
export const BARE = 'bench/studies/overhead/subjects/bare'

/** Two kinds of bare hello, and the app without and with its access log. */
function frameworkWays(framework: string): Readonly<Record<string, System>> {
  const runtime = findFramework(framework).runtime === 'bun' ? 'bun' : 'node'
  const bare = (role: string): System => ({
    ...wayOf(framework, `${framework}, ${role}`),
    app: { package: BARE, role, runtime },
  })
  const app = (title: string, env: Record<string, string>): System => ({
    ...wayOf(framework, title),
    app: { package: `apps/${framework}`, role: 'hello', env },
  })
  return {
    bare: bare(framework),
    headers: bare(`${framework}-headers`),
    app: app(`${framework}, app`, {}),
    logged: app(`${framework}, app with log`, { LOG_LEVEL: 'info' }),
  }
}

/** node/hello behind NGINX: a bare `proxy_pass` and our configuration, both with kept connections and with a new one per request. */
function proxyWays(): Readonly<Record<string, System>> {
  const way = (title: string, front?: FrontKind): System => ({
    ...wayOf('node', title),
    app: { package: 'apps/node', role: 'hello' },
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
function wayOf(framework: string, title: string): System {
  const warmupMs = WARMUP_LONGER * warmupOf({ framework, role: 'hello' })
  return { title, warmupMs, serverBound: false }
}

function raceOf(name: string, ways: readonly string[]): LoadRace {
  return {
    systems: ways.map((way) => systemOf(name, way)),
    workload: WORKLOADS.hello,
    connections: CONNECTIONS.hello,
  }
}

function stepOf(race: string, [over, under]: Ratio): Step {
  return {
    what: `${over} over ${under}`,
    race,
    from: systemOf(race, under),
    to: systemOf(race, over),
  }
}

const races = RACES.map((name) => ({ name, ways: name === NGINX ? proxyWays() : frameworkWays(name) }))

/** See docs/choosing-a-framework.md. */
export const overhead: Study = {
  name: 'overhead',
  title: 'what the duties of an app cost',
  question:
    'What do headers, ids, limits and logs cost hello of each framework, against a bare one and one that sends the same headers and a random id?',
  systems: Object.fromEntries(
    races.flatMap(({ name, ways }) =>
      Object.entries(ways).map(([way, system]) => [systemOf(name, way), system]),
    ),
  ),
  races: Object.fromEntries(races.map(({ name, ways }) => [name, raceOf(name, Object.keys(ways))])),
  claims: [],
  steps: RACES.flatMap((name) =>
    (name === NGINX ? NGINX_RATIOS : FRAMEWORK_RATIOS).map((ratio) => stepOf(name, ratio)),
  ),
}
