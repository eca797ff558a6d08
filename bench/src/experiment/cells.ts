import { APPS, type App, BASELINE, ROLES, type Topology } from '@startgrid/grid/apps.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import type { Cell, CellSpec, Effort, Mode } from '../model/result.ts'
import type { Options } from './options.ts'
import { CONNECTIONS, PROFILES, PROXIED_WARMUP_MS, warmupRequests } from './profiles.ts'
import { WORKLOADS } from './workloads.ts'

/** What will be measured, in which order, and how long it takes. Pure: a resumed run makes the same plan from its seed. */

/** What cells follow from. */
type CellOptions = Pick<Options, 'apps' | 'topologies' | 'connections' | 'warmupMs' | 'profile'>

/** Names of apps, as they are launched: `node/hello`, and `node/hello#2` for what runs the same once more. */
interface Entry {
  name: string
  app: App
  twinOf: string | null
}

/** Every chosen app and the A/A twin of each role, in every chosen topology. */
export function planCells(options: CellOptions): CellSpec[] {
  return ROLES.flatMap((role) => withTwin(options.apps.filter((app) => app.role === role))).flatMap((entry) =>
    cellsOf(entry, options),
  )
}

/** The twin is the baseline where that takes part, else the first app. */
function withTwin(apps: readonly App[]): Entry[] {
  const original = apps.find((app) => app.framework === BASELINE) ?? apps[0]
  if (original === undefined) return []
  const entries = apps.map((app) => ({ name: app.name, app, twinOf: null }))
  return [...entries, { name: `${original.name}#2`, app: original, twinOf: original.name }]
}

function cellsOf({ name, app, twinOf }: Entry, options: CellOptions): CellSpec[] {
  const { topologies, connections, warmupMs, profile } = options
  const [framework = ''] = name.split('/')
  const [, number] = name.split('#')
  return topologies.map((topology) => {
    const isFirst = isFirstOfLaunch(topology, topologies)
    const ms = isFirst ? (warmupMs ?? PROFILES[profile].warmupMs(app)) : PROXIED_WARMUP_MS
    return {
      id: `${name} ${topology}`,
      app: name,
      framework: number === undefined ? framework : `${framework}#${number}`,
      race: app.role,
      role: app.role,
      topology,
      twinOf,
      engine: null,
      workload: `GET ${WORKLOADS[app.role].path}`,
      connections: connections ?? CONNECTIONS[app.role],
      warmupMs: ms,
      // Behind NGINX the app itself is warm.
      warmupRequests:
        topology === 'direct' && isFirst && warmupMs === undefined ? warmupRequests(app, ms) : 0,
      serverBound: true,
      skipped: null,
    }
  })
}

/** The first topology warms the app; the others of the same launch only their own path. A socket is a launch of its own. */
function isFirstOfLaunch(topology: Topology, topologies: readonly Topology[]): boolean {
  return topology === 'nginx-socket' || topologies.find((one) => one !== 'nginx-socket') === topology
}

/** The app that a cell launches, under the cell's own name. */
export function appOf({ app: name }: Pick<Cell, 'app'>): App {
  const app = APPS.find((one) => one.name === name.replace(/#\d+$/, ''))
  if (app === undefined) throw new Error(`There is no app ${name}.`)
  return { ...app, name }
}

/** Whether NGINX itself runs the app: it needs one that can, and which engine runs the JavaScript counts. */
export function isInNginx(cell: Pick<Cell, 'app'>): boolean {
  return appOf(cell).runtime === 'nginx'
}

/** An app that listens on a socket for `nginx-socket` is another launch than the one on a port. */
export function launchName({ app, topology }: Pick<Cell, 'app' | 'topology'>): string {
  return topology === 'nginx-socket' ? `${app} on a socket` : app
}

export interface PlannedHeat {
  race: string
  /** From 1, per race. */
  heat: number
  /** Of everything random in it. */
  seed: number
}

/**
 * All heats in the order in which they run: random, but every n-th heat of all races before the next, so that dropping the last ones
 * takes from all races alike.
 */
export function planHeats(races: readonly string[], heats: number, seed: number): PlannedHeat[] {
  const random = createRandom(seed)
  return Array.from({ length: heats }, (_, index) =>
    shuffle(races, random).map((race) => ({ race, heat: index + 1, seed: Math.floor(random() * 2 ** 32) })),
  ).flat()
}

/** Starting, stopping and asking for the first responses, in milliseconds: a part for all, and one per app. */
const START_MS: Readonly<Record<Mode, { all: number; each: number }>> = {
  native: { all: 400, each: 240 },
  // Containers are made and removed, and their health is asked for every half second.
  docker: { all: 2500, each: 500 },
  // A pod with all of them: its probe is sent every second, and its removal takes some seconds.
  kubernetes: { all: 6000, each: 500 },
  target: { all: 0, each: 0 },
}

/** Opening connections and draining, in milliseconds per slice. */
const SLICE_OVERHEAD_MS = 14

/**
 * What a heat takes, in milliseconds, if nothing disturbs it and no cell is slow.
 * @param slowness what the same work costs here, divided by what it costs where these times were measured
 */
export function expectedHeatMs(
  cells: readonly Cell[],
  { slices, sliceMs }: Pick<Effort, 'slices' | 'sliceMs'>,
  mode: Mode = 'native',
  slowness = 1,
): number {
  const launches = new Set(cells.map(launchName)).size
  return cells.reduce(
    (sum, { warmupMs, leastSliceMs = 0 }) => {
      const measuredMs = Math.max(slices * sliceMs, leastSliceMs)
      const count = Math.ceil(measuredMs / Math.max(sliceMs, leastSliceMs)) + warmupMs / WARMUP_SLICE_MS
      return sum + warmupMs + measuredMs + slowness * count * SLICE_OVERHEAD_MS
    },
    slowness * (START_MS[mode].all + START_MS[mode].each * launches),
  )
}

/** Milliseconds of one slice of warm-up. */
export const WARMUP_SLICE_MS = 250
