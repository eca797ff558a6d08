import { type App, BASELINE, ROLES, runtimeOf } from '@startgrid/grid/apps.ts'
import type { Experiment, LoadRace, System } from '../model/experiment.ts'
import type { Options } from './options.ts'
import { CONNECTIONS, PROXIED_WARMUP_MS, TARGET_WARMUP_MS, warmupOf, warmupRequests } from './profiles.ts'
import { WORKLOADS } from './workloads.ts'

/** Experiments that are generated from options: the grid, and a server that already runs. */

type GridOptions = Pick<Options, 'apps' | 'topologies' | 'connections' | 'latency'>

/** What `pnpm bench` is asked to race. */
export function experimentOf(options: Options): Experiment {
  return options.target === undefined ? gridExperiment(options) : targetExperiment(options)
}

/** Every chosen app and the A/A twin of each role, in every chosen topology: one race per role. */
export function gridExperiment(options: GridOptions): Experiment {
  const races = ROLES.flatMap((role) => {
    const entries = withTwin(options.apps.filter((app) => app.role === role))
    const systems = entries.flatMap((entry) => systemsOf(entry, options))
    return systems.length === 0 ? [] : [{ role, systems }]
  })
  const namesOf = (systems: readonly [string, System][]) => systems.map(([name]) => name)
  return generated(
    races.flatMap(({ systems }) => systems),
    races.map(({ role, systems }) => {
      const race = raceOf(role, namesOf(systems), options)
      return [role, options.latency ? { ...race, openLoop: namesOf(systems.filter(hasLatency)) } : race]
    }),
  )
}

/** A twin controls what ranks. A page that NGINX interprets is so slow that its rate would leave all others idle. */
function hasLatency([, { twinOf, app }]: [string, System]): boolean {
  return twinOf === undefined && !(app?.role === 'ssr' && runtimeOf(app.package) === 'nginx')
}

function generated(systems: readonly [string, System][], races: readonly [string, LoadRace][]): Experiment {
  return { name: '', systems: Object.fromEntries(systems), races: Object.fromEntries(races), claims: [] }
}

/** What results call the server that already ran: the same in all, so that two of them can be compared. */
const TARGET_NAME = 'target'

/** One system, without a twin: nothing is launched, so nothing can be launched twice. */
export function targetExperiment({
  target: origin = '',
  role,
  absent,
  connections,
}: Pick<Options, 'target' | 'role' | 'absent' | 'connections'>): Experiment {
  if (role === undefined) throw new RangeError('A target has a role.')
  const launch = `${TARGET_NAME}/${role}`
  const system = { title: TARGET_NAME, launch, running: { origin, role, absent }, warmupMs: TARGET_WARMUP_MS }
  const name = `${launch} direct`
  return generated([[name, system]], [[role, raceOf(role, [name], { connections })]])
}

function raceOf(
  role: App['role'],
  systems: readonly string[],
  { connections = CONNECTIONS[role] }: { connections?: number | undefined },
): LoadRace {
  return { systems, workload: WORKLOADS[role], connections }
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
