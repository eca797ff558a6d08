import { availableParallelism } from 'node:os'
import { ROLES } from '@startgrid/grid/apps.ts'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import {
  type Experiment,
  isProbe,
  type LoadRace,
  type ProbeRace,
  type PublishedLoad,
  type System,
} from '../model/experiment.ts'
import type { StudyCell, StudyProfile, StudyResult, StudySettings } from '../model/study-result.ts'
import { expectedHeatMs } from './cells.ts'
import { LATENCY_EFFORT } from './open-loop-effort.ts'
import { type ClusterSite, clusterRecord } from './options.ts'
import { PROFILES } from './profiles.ts'

/** What a study measures, and how long that takes. */

/** Launches and passes. A full run is for figures that are published; a quick one shows differences of about a factor of 1.3. */
const STUDY_PROFILES: Readonly<Record<StudyProfile, Omit<StudySettings, 'cores'>>> = {
  quick: { heats: 3, slices: 6, sliceMs: 50, openLoop: LATENCY_EFFORT.quick.level, maxTimeMs: 300_000 },
  full: { heats: 8, slices: 20, sliceMs: 50, openLoop: LATENCY_EFFORT.default.level, maxTimeMs: null },
}

interface PlanOptions {
  profile: StudyProfile
  asPublished: boolean
  /** Instead of the profile's. */
  heats: number | undefined
  maxTimeMs?: number | undefined
  seed: number
  /** Undefined: processes of this machine. */
  cluster?: ClusterSite | undefined
}

/** A result without measurements: the plan of a run. */
export function createStudyResult(
  study: Experiment,
  { profile, asPublished, heats, maxTimeMs, seed, cluster }: PlanOptions,
  command: string,
): StudyResult {
  const settings = STUDY_PROFILES[profile]
  return {
    schema: 4,
    kind: 'study',
    study: study.name,
    profile,
    mode: cluster === undefined ? 'native' : 'kubernetes',
    ...(cluster !== undefined && { cluster: clusterRecord(cluster) }),
    target: null,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed,
    machine: readMachine(),
    versions: readVersions(),
    nginx: null,
    driver: { name: 'startgrid', version: '', ceiling: null },
    settings: {
      ...settings,
      heats: heats ?? settings.heats,
      maxTimeMs: maxTimeMs ?? settings.maxTimeMs,
      cores: null,
    },
    warnings: [],
    cells: planStudyCells(study),
    conformance: [],
    heats: [],
    published: asPublished ? [] : null,
    analysis: null,
  }
}

/** All systems of all races, as if the machine had what they want: `fitToMachine` says what it has. */
export function planStudyCells(study: Experiment): StudyCell[] {
  return Object.entries(study.races).flatMap(([race, plan]) =>
    plan.systems.map((name) => {
      const system = study.systems[name]
      if (system === undefined) throw new Error(`Race ${race} of ${study.name} has no system ${name}.`)
      return cellOf(race, plan, name, system)
    }),
  )
}

function cellOf(race: string, plan: LoadRace | ProbeRace, name: string, system: System): StudyCell {
  const load = isProbe(plan) ? undefined : plan
  const { title, app, nginx, cores = 1, generator = 'startgrid', serverBound = true } = system
  return {
    id: `${race} ${name}`,
    race,
    app: name,
    // A bare proxy gives responses of its own, which no contract covers.
    role: nginx?.front.startsWith('bare') ? null : (ROLES.find((role) => role === app?.role) ?? null),
    topology: app !== undefined && nginx !== undefined ? 'nginx' : 'direct',
    engine: null,
    title,
    workload: load === undefined ? null : `GET ${(system.workload ?? load.workload).path}`,
    connections: load?.connections ?? 0,
    generator,
    openLoop: load?.openLoop?.includes(name) ?? false,
    warmupMs: load === undefined ? 0 : (system.warmupMs ?? load.warmupMs ?? warmupOf(system)),
    warmupRequests: 0,
    leastSliceMs: load?.sliceMs ?? 0,
    cores: { wanted: cores, given: cores },
    serverBound,
    nginx: null,
    skipped: null,
  }
}

/** Behind NGINX a cold app gets a third of the requests, or a tenth of them, in the same time. */
const PROXIED_LONGER = 2

/** What the races of the grid found each framework to need; an NGINX that is alone has nothing to compile. */
function warmupOf({ app, nginx }: System): number {
  if (app === undefined) return 250
  const role = app.role === 'ssr' ? 'ssr' : 'hello'
  const own = PROFILES.default.warmupMs({ framework: app.package.replace(/^.*\//, ''), role })
  return nginx === undefined ? own : own * PROXIED_LONGER
}

/**
 * Gives every cell the cores that this machine has for servers: those that keep more busy are measured all the same, on fewer.
 * @param servers how many there are; null where processes cannot be kept apart
 */
export function fitToMachine(cells: readonly StudyCell[], servers: number | null): void {
  const all = availableParallelism()
  const most = servers ?? Math.max(1, all - 1)
  // A probe has the whole machine, for there is no generator beside it.
  fitTo(cells, ({ workload }) => (workload === null ? all : most))
}

/** Gives every cell at most so many cores. @param most of one cell, or of each */
export function fitTo(cells: readonly StudyCell[], most: number | ((cell: StudyCell) => number)): void {
  for (const cell of cells) {
    const { cores } = cell
    cores.given = Math.min(cores.wanted, typeof most === 'number' ? most : most(cell))
    // Every process has to become warm, and those that share a core take turns.
    cell.warmupMs *= Math.ceil(cores.wanted / cores.given)
  }
}

/** What a heat takes, in milliseconds, if nothing disturbs it and no system is slow. */
export function expectedRaceMs(
  race: LoadRace | ProbeRace,
  cells: readonly StudyCell[],
  settings: Pick<StudySettings, 'slices' | 'sliceMs' | 'openLoop'>,
): number {
  if (isProbe(race)) return race.expectedMs * cells.length
  // How fast a system is, and so how short its open loop may be, is not known before.
  const open = cells.filter(({ openLoop }) => openLoop).length * settings.openLoop.maxMs
  return expectedHeatMs(cells, settings) + open
}

/** Milliseconds before the run, when its systems are not yet fitted to this machine: of the heats that are left, and of the source's own tools. */
export function plannedStudyMs(
  study: Experiment,
  { settings, heats, cells, profile, published }: StudyResult,
): number {
  const fitted = structuredClone(cells)
  fitToMachine(fitted, null)
  const left = Object.entries(study.races).reduce((sum, [name, race]) => {
    const count = settings.heats - heats.filter((heat) => heat.race === name).length
    const own = fitted.filter((cell) => cell.race === name && cell.skipped === null)
    return sum + count * expectedRaceMs(race, own, settings)
  }, 0)
  const tools = published === null ? 0 : expectedPublishedMs(study, profile === 'quick')
  return Math.min(left, settings.maxTimeMs ?? left) + tools
}

/** With `--quick`, so many seconds at most. */
const QUICK_SECONDS = 3
const START_MS = 1500

/** What one run of a source's own tool takes. */
export function publishedSeconds({ seconds }: PublishedLoad, quick: boolean): number {
  return quick ? Math.min(QUICK_SECONDS, seconds) : seconds
}

/** Milliseconds. */
function expectedPublishedMs(study: Experiment, quick: boolean): number {
  return (study.published ?? []).reduce((sum, load) => {
    const runs = load.connections.length * publishedSeconds(load, quick) * 1000
    return sum + publishedSystems(study, load).length * (START_MS + runs)
  }, 0)
}

export function publishedSystems({ races }: Experiment, { race, systems }: PublishedLoad): readonly string[] {
  return systems ?? races[race]?.systems ?? []
}
