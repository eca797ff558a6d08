import { availableParallelism } from 'node:os'
import { ROLES, TOPOLOGIES, type Topology } from '@startgrid/grid/apps.ts'
import { nameAsked } from '@startgrid/servers/request.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { type Experiment, isProbe, type Race, type System } from '../result/experiment.ts'
import type { Cell } from '../result/result.ts'
import { warmupOf } from './profiles.ts'

/** What will be measured, and in which order. Pure. */

/** A cell of which only what is unusual is said. */
export function newCell(cell: Pick<Cell, 'id' | 'race' | 'app'> & Partial<Cell>): Cell {
  return {
    system: cell.id,
    title: cell.app,
    role: null,
    topology: 'direct',
    twinOf: null,
    engine: null,
    workload: null,
    connections: 0,
    openLoop: false,
    warmupMs: 0,
    warmupRequests: 0,
    leastSliceMs: 0,
    cores: { wanted: 1, given: 1 },
    serverBound: true,
    skipped: null,
    ...cell,
  }
}

/** All systems of all races, as if the machine had what they want: `fitToMachine` says what it has. */
export function planCells({ name, systems, races }: Experiment): Cell[] {
  return Object.entries(races).flatMap(([race, plan]) =>
    plan.systems.map((system) => {
      const own = systems[system]
      if (own === undefined) throw new Error(`Race ${race} of ${name} has no system ${system}.`)
      return cellOf(race, plan, system, own)
    }),
  )
}

function cellOf(race: string, plan: Race, name: string, system: System): Cell {
  const load = isProbe(plan) ? undefined : plan
  const { title, launch, app, nginx, cores = 1 } = system
  const role = ROLES.find((one) => one === app?.role) ?? null
  const common = {
    // A system of a study may be in several races; one with a launch key is in one.
    id: launch === undefined ? `${race} ${name}` : name,
    race,
    system: name,
    app: launch ?? name,
    title,
    // A bare proxy gives responses of its own, which no contract covers.
    role: nginx?.front.startsWith('bare') ? null : role,
    topology: topologyOf(system),
    twinOf: system.twinOf ?? null,
    cores: { wanted: cores, given: cores },
    serverBound: system.serverBound ?? (system.workload ?? load?.workload)?.rate === undefined,
  }
  if (load === undefined) return newCell(common)
  return newCell({
    ...common,
    workload: nameAsked(system.workload ?? load.workload),
    connections: load.connections,
    openLoop: load.openLoop?.includes(name) ?? false,
    warmupMs: system.warmupMs ?? usualWarmup(system),
    warmupRequests: system.warmupRequests ?? 0,
    leastSliceMs: load.sliceMs ?? 0,
  })
}

/** An NGINX that is alone is asked directly; one of a kind that only studies know counts as the usual one. */
function topologyOf({ app, command, nginx }: System): Topology {
  if (nginx === undefined || (app ?? command) === undefined) return 'direct'
  return TOPOLOGIES.find((one) => one === nginx.front) ?? 'nginx'
}

/** Behind NGINX a cold app gets a third of the requests, or a tenth of them, in the same time. */
const PROXIED_LONGER = 2

/** What the races of the grid found each framework to need; an NGINX that is alone has nothing to compile. */
function usualWarmup({ app, nginx }: System): number {
  if (app === undefined) return 250
  const role = app.role === 'ssr' ? 'ssr' : 'hello'
  const own = warmupOf({ framework: app.package.replace(/^.*\//, ''), role })
  return nginx === undefined ? own : own * PROXIED_LONGER
}

/**
 * Gives every cell the cores that this machine has for servers: those that keep more busy are measured all the same, on fewer.
 * @param servers how many there are; null where processes cannot be kept apart
 */
export function fitToMachine(cells: readonly Cell[], servers: number | null): void {
  const all = availableParallelism()
  const most = servers ?? Math.max(1, all - 1)
  // A probe has the whole machine, for there is no generator beside it.
  for (const cell of cells) {
    const { cores } = cell
    cores.given = Math.min(cores.wanted, cell.workload === null ? all : most)
    // Every process has to become warm, and those that share a core take turns.
    cell.warmupMs *= Math.ceil(cores.wanted / cores.given)
  }
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

/** Milliseconds of one slice of warm-up. */
export const WARMUP_SLICE_MS = 250
