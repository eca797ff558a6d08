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
    const apps = options.apps.filter((app) => app.role === role)
    // The twin is of bare node where that takes part, for it is what all are compared with; else of the first app.
    const original = apps.find((app) => app.framework === BASELINE) ?? apps[0]
    if (original === undefined) continue
    const own = [...apps.flatMap((app) => systemsOf(app, options)), ...systemsOf(original, options, true)]
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

/** An app by topology. @param isTwin what runs the same once more: `node/hello#2` */
function systemsOf(app: App, { topologies }: GridOptions, isTwin = false): [string, System][] {
  const { name, framework, role } = app
  const number = isTwin ? '#2' : ''
  const launch = `${name}${number}`
  return topologies.map((topology, index) => {
    // The first topology warms the app; the others only their own path.
    const ms = index === 0 ? warmupOf(app) : PROXIED_WARMUP_MS
    const system = {
      title: `${framework}${number}`,
      launch,
      app: { package: `apps/${framework}`, role },
      warmupMs: ms,
      // Behind NGINX the app itself is warm.
      warmupRequests: topology === 'direct' && index === 0 ? warmupRequests(app, ms) : 0,
      ...(topology !== 'direct' && { nginx: { front: topology } }),
      ...(isTwin && { twinOf: name }),
    }
    return [`${launch} ${topology}`, system]
  })
}
