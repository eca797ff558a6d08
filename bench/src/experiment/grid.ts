import { type App, BASELINE, ROLES, runtimeOf, type Topology } from '@startgrid/grid/apps.ts'
import type { Experiment, LoadRace, System } from '../result/experiment.ts'
import { CONNECTIONS, PROXIED_WARMUP_MS, warmupOf, warmupRequests } from './profiles.ts'
import { WORKLOADS } from './workloads.ts'

interface GridOptions {
  apps: readonly App[]
  topologies: readonly Topology[]
  /** Replaces every role's own number; undefined leaves them. */
  connections: number | undefined
  /** Also latencies in open loop. */
  latency: boolean
}

/** Every chosen app and the A/A twin of each role, in every chosen topology: one race per role. */
export function gridExperiment(options: GridOptions): Experiment {
  const systems: Record<string, System> = {}
  const races: Record<string, LoadRace> = {}
  for (const role of ROLES) {
    const entries = withTwin(options.apps.filter((app) => app.role === role))
    const own = entries.flatMap((entry) => systemsOf(entry, options))
    if (own.length === 0) continue
    Object.assign(systems, Object.fromEntries(own))
    races[role] = {
      systems: own.map(([name]) => name),
      workload: WORKLOADS[role],
      ranks: true,
      connections: options.connections ?? CONNECTIONS[role],
      ...(options.latency && { openLoop: own.filter(hasLatency).map(([name]) => name) }),
    }
  }
  return { name: '', systems, races, claims: [] }
}

/** A twin controls what ranks. A page that NGINX interprets is so slow that its rate would leave all others idle. */
function hasLatency([, { twinOf, app }]: [string, System]): boolean {
  return twinOf === undefined && !(app?.role === 'ssr' && runtimeOf(app.package) === 'nginx')
}

/** An app under the name of its launch: `node/hello`, and `node/hello#2` for what runs the same once more. */
interface Entry {
  launch: string
  title: string
  app: App
  twinOf?: string
}

/** The twin is bare node where that takes part, for it is what all are compared with; else the first app. */
function withTwin(apps: readonly App[]): Entry[] {
  const original = apps.find((app) => app.framework === BASELINE) ?? apps[0]
  if (original === undefined) return []
  const { name, framework } = original
  return [
    ...apps.map((app) => ({ launch: app.name, title: app.framework, app })),
    { launch: `${name}#2`, title: `${framework}#2`, app: original, twinOf: name },
  ]
}

function systemsOf({ launch, title, app, twinOf }: Entry, { topologies }: GridOptions): [string, System][] {
  return topologies.map((topology) => {
    // The first topology warms the app; the others only their own path.
    const isFirst = topology === topologies[0]
    const ms = isFirst ? warmupOf(app) : PROXIED_WARMUP_MS
    const system = {
      title,
      launch,
      app: { package: `apps/${app.framework}`, role: app.role },
      warmupMs: ms,
      // Behind NGINX the app itself is warm.
      warmupRequests: topology === 'direct' && isFirst ? warmupRequests(app, ms) : 0,
      ...(topology !== 'direct' && { nginx: { front: topology } }),
      ...(twinOf !== undefined && { twinOf }),
    }
    return [`${launch} ${topology}`, system]
  })
}
