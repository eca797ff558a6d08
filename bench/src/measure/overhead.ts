import { fileURLToPath } from 'node:url'
import { findApps, type Topology } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import type { Startable } from '@startgrid/grid/launcher.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Driver } from '../drivers/driver.ts'
import { startWays, type Way } from '../environments/ways.ts'
import type { Cell, Heat, Settings } from '../model/result.ts'
import { expectedHeatMs, planHeats } from '../plan/cells.ts'
import { CONNECTIONS, PROFILES, warmupRequests } from '../plan/profiles.ts'
import { WORKLOADS } from '../plan/workloads.ts'
import { runHeat } from './heat.ts'

/** What duties cost: hello of every framework as it is in production, and without its duties, in the same passes. */

/** Ways to serve hello that are measured in the same heats. */
export interface Group {
  /** The framework, or `nginx`. */
  name: string
  ways: readonly { cell: Cell; way: Way }[]
}

const BARE = fileURLToPath(new URL('../../bare', import.meta.url))

/** The frameworks that have a bare hello. NGINX is njs. */
export const OVERHEAD_FRAMEWORKS: readonly string[] = CATALOGUE.flatMap(({ name, runtime }) =>
  runtime === 'nginx' ? [] : name,
)

/** The group of the proxy, beside those of the frameworks. */
export const NGINX = 'nginx'

/** One framework: two kinds of bare hello, and the app without and with its access log. */
export function frameworkGroup(framework: string): Group {
  const [app] = findApps(`${framework}/hello`)
  if (app === undefined) throw new Error(`There is no ${framework}/hello.`)
  const bare = (role: string): Startable => ({
    name: `bare ${role}`,
    runtime: app.runtime,
    role,
    directory: BARE,
  })
  return {
    name: framework,
    ways: [
      wayOf(framework, 'bare', { program: bare(framework) }),
      wayOf(framework, 'headers', { program: bare(`${framework}-headers`) }),
      wayOf(framework, 'app', { program: app }),
      wayOf(framework, 'logged', { program: app, env: { LOG_LEVEL: 'info' } }),
    ],
  }
}

/** node/hello behind NGINX: a bare `proxy_pass` and our configuration, both with kept connections and with a new one per request. */
export function nginxGroup(): Group {
  const [program] = findApps('node/hello')
  if (program === undefined) throw new Error('There is no node/hello.')
  return {
    name: NGINX,
    ways: [
      wayOf(NGINX, 'direct', { program }),
      wayOf(NGINX, 'bare', { program, front: 'bare' }, 'nginx'),
      wayOf(NGINX, 'ours', { program, front: 'nginx' }, 'nginx'),
      wayOf(NGINX, 'bare-naive', { program, front: 'bare-naive' }, 'nginx'),
      wayOf(NGINX, 'ours-naive', { program, front: 'nginx-naive' }, 'nginx'),
    ],
  }
}

export function wayOf(
  group: string,
  name: string,
  way: Way,
  topology: Topology = 'direct',
): Group['ways'][number] {
  const framework = group === NGINX ? 'node' : group
  const warmed = { framework, role: 'hello' } as const
  // More code takes longer to become warm: a ratio of cold programs flatters the bare ones.
  const warmupMs = 2 * PROFILES.default.warmupMs(warmed)
  const cell: Cell = {
    id: name,
    race: group,
    app: name,
    role: 'hello',
    topology,
    engine: null,
    workload: `GET ${WORKLOADS.hello.path}`,
    connections: CONNECTIONS.hello,
    warmupMs,
    warmupRequests: topology === 'direct' ? warmupRequests(warmed, warmupMs) : 0,
    serverBound: true,
    skipped: null,
  }
  return { cell, way }
}

export interface OverheadOptions {
  groups: readonly Group[]
  /** Launches of every program. */
  heats: number
  /** Passes of a heat. */
  slices: number
  sliceMs: number
  seed: number
  nginx: Nginx | undefined
  cores: Settings['cores']
  driver: Driver
  signal: AbortSignal
  /** Told the share that is done, 0 to 1, and what runs. */
  onProgress(done: number, step: string): void
}

/** Milliseconds that a measurement takes if nothing disturbs it. */
export function expectedOverheadMs({
  groups,
  heats,
  ...settings
}: Pick<OverheadOptions, 'groups' | 'heats' | 'slices' | 'sliceMs'>): number {
  const cells = (group: Group) => group.ways.map(({ cell }) => cell)
  return groups.reduce((sum, group) => sum + heats * expectedHeatMs(cells(group), settings), 0)
}

/** All heats, in random order. After an abort the last one is missing. @returns heats by group */
export async function measureOverhead(options: OverheadOptions): Promise<ReadonlyMap<Group, Heat[]>> {
  const { groups, heats, seed, signal, onProgress } = options
  const measured = new Map<Group, Heat[]>(groups.map((group) => [group, []]))
  const names = groups.map(({ name }) => name)
  const order = planHeats(names, heats, seed)
  for (const [index, planned] of order.entries()) {
    const group = groups.find(({ name }) => name === planned.race)
    if (signal.aborted || group === undefined) break
    const ways = new Map(group.ways.map(({ cell, way }) => [cell, way]))
    const cells = [...ways.keys()]
    const heat = await runHeat({
      planned,
      cells,
      settings: options,
      expectedMs: expectedHeatMs(cells, options),
      environment: { startServers: () => startWays(ways, options) },
      driverOf: () => options.driver,
      workloadOf: () => WORKLOADS.hello,
      moreWarmup: new Map(),
      endsAt: Number.POSITIVE_INFINITY,
      signal,
      onProgress: (done) => onProgress((index + done) / order.length, group.name),
    })
    if (!signal.aborted) measured.get(group)?.push(heat)
  }
  return measured
}
