import type { Nginx } from '@startgrid/nginx/find.ts'
import { WARMUP_SLICE_MS } from '../plan.ts'
import { cutSlices } from '../schedule.ts'
import { CellFailure } from '../slice.ts'
import { createRandom, type Random, shuffle } from '../stats/random.ts'
import { oneLine } from '../text.ts'
import { learnLength, type Workload } from '../workload.ts'
import type { Generators } from './generators.ts'
import { isQuiet } from './launch-figures.ts'
import { type Entrant, measureSystem, type SliceKind, settleMsOf } from './measurement.ts'
import type { StudyCell, StudyCores, StudyHeat, StudyProbe, StudySettings, StudySlice } from './result.ts'
import { startSystem } from './running-system.ts'
import { isProbe, type LoadRace, type ProbeRace, type Study } from './study.ts'

export interface StudyHeatOptions {
  study: Study
  race: string
  heat: number
  seed: number
  /** Of this race, and not skipped. */
  cells: readonly StudyCell[]
  settings: StudySettings
  quick: boolean
  nginx: Nginx | undefined
  generators: Generators
  signal: AbortSignal
  /** Told how much of the heat is over, 0 to 1. */
  onProgress(done: number): void
}

/**
 * One heat of a race. What goes wrong with one system is recorded, the others go on. After an abort the record is not complete.
 */
export async function runStudyHeat(options: StudyHeatOptions): Promise<StudyHeat> {
  const beganAt = performance.now()
  const { study, race: name, heat, signal } = options
  const startedAt = new Date().toISOString()
  const record: StudyHeat = {
    race: name,
    heat,
    startedAt,
    seconds: 0,
    slices: [],
    probes: [],
    spreads: [],
    failures: [],
  }
  const race = study.races[name]
  const random = createRandom(options.seed)
  if (race === undefined) throw new Error(`The study ${study.name} has no race ${name}.`)
  if (isProbe(race)) await probeAll(options, race, record, random)
  else await new LoadHeat(options, race, record, random, beganAt).run()
  if (!signal.aborted) record.seconds = (performance.now() - beganAt) / 1000
  return record
}

/** One after the other, shuffled: each has the machine to itself. What others disturbed is measured once more at the end. */
async function probeAll(
  options: StudyHeatOptions,
  race: ProbeRace,
  record: StudyHeat,
  random: Random,
): Promise<void> {
  const systems = shuffle(options.cells, random).map(({ system }) => system)
  const disturbed: string[] = []
  for (const [index, system] of systems.entries()) {
    options.onProgress(index / systems.length)
    const probe = await probeOne(options, race, record, system)
    if (probe !== undefined && !isQuiet(probe)) disturbed.push(system)
  }
  for (const system of disturbed) await probeOne(options, race, record, system)
}

/** @returns undefined if there is nothing to record: it was aborted, or it failed */
async function probeOne(
  { quick, signal }: StudyHeatOptions,
  race: ProbeRace,
  record: StudyHeat,
  system: string,
): Promise<StudyProbe | undefined> {
  if (signal.aborted) return undefined
  let foreign: number | null = null
  const onForeign = (part: number) => {
    foreign = part
  }
  try {
    const figures = await race.probe(system, { signal, quick, onForeign })
    const probe = { system, figures, foreign }
    record.probes.push(probe)
    return probe
  } catch (error) {
    if (!signal.aborted) record.failures.push({ system, reason: oneLine(error) })
    return undefined
  }
}

/** A heat of systems under load. */
class LoadHeat {
  readonly #options: StudyHeatOptions
  readonly #race: LoadRace
  readonly #record: StudyHeat
  readonly #random: Random
  readonly #beganAt: number
  readonly #expectedMs: number
  #spentMs = 0

  constructor(options: StudyHeatOptions, race: LoadRace, record: StudyHeat, random: Random, beganAt: number) {
    this.#options = options
    this.#race = race
    this.#record = record
    this.#random = random
    this.#beganAt = beganAt
    this.#expectedMs = expectedRaceMs(race, options.cells, options.settings)
  }

  async run(): Promise<void> {
    const started = await Promise.all(this.#options.cells.map((cell) => this.#start(cell)))
    const entrants = started.filter((one) => one !== undefined)
    try {
      if (this.#options.signal.aborted) return
      await this.#learn(entrants)
      const rates = await this.#warm(entrants)
      await this.#measure(entrants, rates)
    } finally {
      await Promise.all(entrants.map((entrant) => this.#stop(entrant)))
    }
  }

  async #start(cell: StudyCell): Promise<Entrant | undefined> {
    const { study, nginx, settings } = this.#options
    const system = study.systems[cell.system]
    if (system === undefined) throw new Error(`The study ${study.name} has no system ${cell.system}.`)
    try {
      const running = await startSystem(system, { nginx, cpus: cpusOf(cell, settings.cores) })
      return { cell, running, workload: system.workload ?? this.#race.workload }
    } catch (error) {
      this.#fail(cell, `it did not start: ${oneLine(error)}`)
      return undefined
    }
  }

  async #stop({ cell: { system }, running }: Entrant): Promise<void> {
    const requests = await running.stop()
    if (requests !== null) this.#record.spreads.push({ system, requests })
  }

  /** Who answers first sets the length for all that are asked the same: equal work. */
  async #learn(entrants: readonly Entrant[]): Promise<void> {
    const { own } = this.#options.generators
    const known = new Map<string, Workload>()
    for (const entrant of entrants) {
      const { path } = entrant.workload
      const learnt = known.get(path) ?? (await learnLength(entrant.workload, entrant.running.target, own))
      known.set(path, learnt)
      entrant.workload = learnt
    }
  }

  /** In passes, shuffled, so that all age alike. @returns answers per second, by system */
  async #warm(entrants: readonly Entrant[]): Promise<ReadonlyMap<string, number>> {
    const rates = new Map<string, number>()
    const passes = Math.max(0, ...entrants.map(({ cell }) => warmupLoads(cell)))
    for (let pass = 0; pass < passes; pass++) {
      const due = entrants.filter(({ cell }) => warmupLoads(cell) >= passes - pass)
      for (const entrant of shuffle(due, this.#random)) {
        const durationMs = warmupMsOf(entrant.cell)
        const slice = await this.#take(entrant, { phase: 'warmup', durationMs, repeat: false })
        if (slice !== undefined) rates.set(entrant.cell.system, slice.requests / slice.seconds)
      }
    }
    return rates
  }

  /** In shuffled passes; what others disturbed is measured once more at the end. */
  async #measure(entrants: readonly Entrant[], rates: ReadonlyMap<string, number>): Promise<void> {
    const cut = entrants.map((entrant) => ({ entrant, ...this.#cut(entrant.cell, rates) }))
    const passes = Math.max(0, ...cut.map(({ slices }) => slices))
    const disturbed: typeof cut = []
    for (let pass = 0; pass < passes; pass++) {
      const due = cut.filter(({ slices }) => slices > pass)
      for (const planned of shuffle(due, this.#random)) {
        const slice = await this.#take(planned.entrant, { phase: 'measure', ...planned, repeat: false })
        if (slice?.disturbed) disturbed.push(planned)
      }
    }
    for (const planned of disturbed)
      await this.#take(planned.entrant, { phase: 'measure', ...planned, repeat: true })
  }

  /**
   * Slow systems get fewer and longer slices, as everywhere in this benchmark. Where load runs before a slice counts, its beginning does not
   * matter, and 10,000 connections would make it minutes.
   */
  #cut(cell: StudyCell, rates: ReadonlyMap<string, number>): { slices: number; durationMs: number } {
    const { settings } = this.#options
    const { system, connections, generator } = cell
    const least = generator === 'startgrid' ? 0 : LEAST_FOREIGN_MS
    const sliceMs = Math.max(settings.sliceMs, this.#race.sliceMs ?? 0, least)
    const slices = Math.max(1, Math.round((settings.slices * settings.sliceMs) / sliceMs))
    if (settleMsOf(cell) > 0) return { slices, durationMs: sliceMs }
    return cutSlices({ connections: connections ?? 1 }, rates.get(system) ?? 0, { slices, sliceMs })
  }

  /** @returns undefined if there is nothing to record: it was aborted, or the system has failed */
  async #take(entrant: Entrant, kind: SliceKind): Promise<StudySlice | undefined> {
    const { generators, settings, signal, onProgress } = this.#options
    const hasFailed = this.#record.failures.some(({ system }) => system === entrant.cell.system)
    if (signal.aborted || hasFailed) return undefined
    const track = { generators, cores: settings.cores, signal, beganAt: this.#beganAt }
    try {
      const slice = await measureSystem(track, entrant, kind)
      if (slice !== undefined) this.#record.slices.push(slice)
      return slice
    } catch (error) {
      if (!(error instanceof CellFailure)) throw error
      this.#fail(entrant.cell, error.message)
      return undefined
    } finally {
      this.#spentMs += kind.durationMs
      onProgress(Math.min(1, this.#spentMs / this.#expectedMs))
    }
  }

  #fail({ system }: StudyCell, reason: string): void {
    this.#record.failures.push({ system, reason })
  }
}

/** As many of the servers' cores as it can use, as taskset writes them. */
function cpusOf({ cores }: StudyCell, all: StudyCores | null): string | undefined {
  return all?.servers.slice(0, cores.given).join(',')
}

/** A load by a driver of others says less about the server than about how it begins, if it is shorter. */
const LEAST_FOREIGN_MS = 500

/** Thousands of connections are not opened for each quarter of a second. */
function warmupMsOf(cell: StudyCell): number {
  if (cell.generator !== 'startgrid') return Math.max(LEAST_FOREIGN_MS, cell.warmupMs)
  return settleMsOf(cell) > 0 ? cell.warmupMs : WARMUP_SLICE_MS
}

function warmupLoads(cell: StudyCell): number {
  return Math.ceil(cell.warmupMs / warmupMsOf(cell))
}

/** Starting, stopping and asking for the first answer, per system; opening connections, per slice. */
const START_MS = 250
const SLICE_OVERHEAD_MS = 15

/** What a heat takes, in milliseconds, if nothing disturbs it and no system is slow. */
export function expectedRaceMs(
  race: LoadRace | ProbeRace,
  cells: readonly StudyCell[],
  { slices, sliceMs }: Pick<StudySettings, 'slices' | 'sliceMs'>,
): number {
  if (isProbe(race)) return race.expectedMs * cells.length
  const measured = Math.max(slices * sliceMs, race.sliceMs ?? 0)
  return cells.reduce((sum, cell) => {
    const loads = warmupLoads(cell) + Math.max(1, Math.round(measured / Math.max(sliceMs, race.sliceMs ?? 0)))
    return sum + START_MS + cell.warmupMs + measured + loads * (SLICE_OVERHEAD_MS + settleMsOf(cell))
  }, 0)
}
