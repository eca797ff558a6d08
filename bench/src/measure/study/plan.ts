import { availableParallelism } from 'node:os'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { isProbe, type LoadRace, type ProbeRace, type Study, type System } from '../../model/study.ts'
import type { StudyCell, StudyProfile, StudyResult, StudySettings } from '../../model/study-result.ts'
import { LATENCY_EFFORT } from '../../plan/open-loop-effort.ts'
import { PROFILES } from '../../plan/profiles.ts'
import { expectedRaceMs } from './heat.ts'
import { expectedPublishedMs } from './published.ts'

/** What will be measured, in which order, and how long it takes. */

/** Launches and slices. A full run is for figures that are published; a quick one shows differences of about a factor of 1.3. */
export const STUDY_PROFILES: Readonly<Record<StudyProfile, Omit<StudySettings, 'cores'>>> = {
  quick: { heats: 3, slices: 2, sliceMs: 150, openLoop: LATENCY_EFFORT.quick.level, maxTimeMs: 300_000 },
  full: { heats: 8, slices: 4, sliceMs: 250, openLoop: LATENCY_EFFORT.default.level, maxTimeMs: null },
}

export interface PlanOptions {
  profile: StudyProfile
  asPublished: boolean
  /** Instead of the profile's. */
  heats: number | undefined
  maxTimeMs?: number | undefined
  seed: number
}

/** A result without measurements: the plan of a run. */
export function createStudyResult(
  study: Study,
  { profile, asPublished, heats, maxTimeMs, seed }: PlanOptions,
  command: string,
): StudyResult {
  const settings = STUDY_PROFILES[profile]
  return {
    schema: 3,
    kind: 'study',
    study: study.name,
    profile,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed,
    machine: readMachine(),
    versions: readVersions(),
    nginx: null,
    driver: { version: '', ceiling: null },
    settings: {
      ...settings,
      heats: heats ?? settings.heats,
      maxTimeMs: maxTimeMs ?? settings.maxTimeMs,
      cores: null,
    },
    warnings: [],
    cells: planCells(study),
    conformance: [],
    heats: [],
    published: asPublished ? [] : null,
    analysis: null,
  }
}

/** All systems of all races, as if the machine had what they want: `fitToMachine` says what it has. */
export function planCells(study: Study): StudyCell[] {
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
    race,
    system: name,
    title,
    workload: load === undefined ? null : `GET ${(system.workload ?? load.workload).path}`,
    connections: load?.connections ?? null,
    generator,
    openLoop: load?.openLoop?.includes(name) ?? false,
    warmupMs: load === undefined ? 0 : (system.warmupMs ?? load.warmupMs ?? warmupOf(system)),
    cores: { wanted: cores, given: cores },
    serverBound,
    proxied: app !== undefined && nginx !== undefined,
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
  seed: number
}

/** All heats in the order in which they run: every race's n-th before any next one, shuffled. */
export function planHeats(
  study: Study,
  { settings, seed }: Pick<StudyResult, 'settings' | 'seed'>,
): PlannedHeat[] {
  const random = createRandom(seed)
  return Array.from({ length: settings.heats }, (_, index) =>
    shuffle(Object.keys(study.races), random).map((race) => ({
      race,
      heat: index + 1,
      seed: Math.floor(random() * 2 ** 32),
    })),
  ).flat()
}

/** Milliseconds, if nobody disturbs it: all heats that are left and for which there is time, and the source's own tools. */
export function expectedStudyMs(study: Study, result: StudyResult): number {
  const { settings, cells, profile } = result
  const heats = Object.entries(study.races).reduce((sum, [name, race]) => {
    const left = settings.heats - result.heats.filter((heat) => heat.race === name).length
    return sum + left * expectedRaceMs(race, cellsOf(cells, name), settings)
  }, 0)
  const published = result.published === null ? 0 : expectedPublishedMs(study, profile === 'quick')
  return Math.min(heats, settings.maxTimeMs ?? heats) + published
}

/** The same before the run, when its systems are not yet fitted to this machine. */
export function plannedStudyMs(study: Study, result: StudyResult): number {
  const cells = structuredClone(result.cells)
  fitToMachine(cells, null)
  return expectedStudyMs(study, { ...result, cells })
}

/** Those of a race that can be measured. */
export function cellsOf(cells: readonly StudyCell[], race: string): StudyCell[] {
  return cells.filter((cell) => cell.race === race && cell.skipped === null)
}
