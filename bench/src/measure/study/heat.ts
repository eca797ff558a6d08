import { oneLine } from '@startgrid/cli/text.ts'
import { createRandom, type Random, shuffle } from '@startgrid/stats/random.ts'
import { startSystem } from '../../environments/study/running-system.ts'
import { isQuiet } from '../../judge/analysis/slices.ts'
import { isProbe, type LoadRace, type ProbeRace } from '../../model/study.ts'
import type { StudyCell, StudyCores, StudyHeat, StudySettings, StudySlice } from '../../model/study-result.ts'
import type { Workload } from '../../model/workload.ts'
import { WARMUP_SLICE_MS } from '../../plan/cells.ts'
import { cutSlices } from '../../plan/schedule.ts'
import { learnLength } from '../../plan/workloads.ts'
import { CellFailure } from '../slice.ts'
import type { StudyHeatOptions } from './heat-options.ts'
import { type Entrant, measureSystem, type SliceKind, settleMsOf, type Track } from './measurement.ts'
import { baseOf, type Capacity, commonRate, runOpenLoop } from './open-loop.ts'
import { probeAll } from './probe-heat.ts'

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
    openLoop: null,
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
      await this.#openLoop(entrants)
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

  /** After the slices, so that what a system can do is known, and it is as warm as it gets. */
  async #openLoop(entrants: readonly Entrant[]): Promise<void> {
    const { study, race, heat, openRate, settings, signal } = this.#options
    const asked = entrants.filter(({ cell }) => cell.openLoop && !this.#hasFailed(cell))
    const capacities = new Map(asked.map(({ cell }) => [cell.system, this.#capacityOf(cell)]))
    const rate = openRate ?? commonRate(baseOf(study, race), capacities)
    if (signal.aborted || asked.length === 0 || rate === null) return
    this.#record.openLoop = await runOpenLoop(this.#track(), asked, {
      heat,
      rate,
      capacities,
      settings,
      random: this.#random,
      attempt: (entrant, durationMs, load) => this.#attempt(entrant, durationMs, load),
    })
  }

  /** In its slices; in those that nobody disturbed, if there are any. */
  #capacityOf({ system }: StudyCell): Capacity {
    const measured = this.#record.slices.filter(({ cell, phase }) => cell === system && phase === 'measure')
    const quiet = measured.filter(isQuiet)
    const used = quiet.length > 0 ? quiet : measured
    const seconds = used.reduce((sum, slice) => sum + slice.seconds, 0)
    const requests = used.reduce((sum, slice) => sum + slice.requests, 0)
    return { rate: seconds === 0 ? 0 : requests / seconds, isQuiet: quiet.length > 0 }
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

  /** Records a slice. @returns undefined if there is none, as of `#attempt` */
  async #take(entrant: Entrant, kind: SliceKind): Promise<StudySlice | undefined> {
    const slice = await this.#attempt(entrant, kind.durationMs, () =>
      measureSystem(this.#track(), entrant, kind),
    )
    if (slice !== undefined) this.#record.slices.push(slice)
    return slice
  }

  /** @returns undefined if there is nothing to record: it was aborted, or the system has failed */
  async #attempt<Load>(
    { cell }: Entrant,
    durationMs: number,
    load: () => Promise<Load | undefined>,
  ): Promise<Load | undefined> {
    if (this.#options.signal.aborted || this.#hasFailed(cell)) return undefined
    try {
      return await load()
    } catch (error) {
      if (!(error instanceof CellFailure)) throw error
      this.#fail(cell, error.message)
      return undefined
    } finally {
      this.#spentMs += durationMs
      this.#options.onProgress(Math.min(1, this.#spentMs / this.#expectedMs))
    }
  }

  #track(): Track {
    const { generators, settings, signal } = this.#options
    return { generators, cores: settings.cores, signal, beganAt: this.#beganAt }
  }

  #hasFailed({ system }: StudyCell): boolean {
    return this.#record.failures.some((one) => one.system === system)
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
  settings: Pick<StudySettings, 'slices' | 'sliceMs' | 'openLoop'>,
): number {
  if (isProbe(race)) return race.expectedMs * cells.length
  const { slices, sliceMs, openLoop } = settings
  const measured = Math.max(slices * sliceMs, race.sliceMs ?? 0)
  return cells.reduce((sum, cell) => {
    const loads = warmupLoads(cell) + Math.max(1, Math.round(measured / Math.max(sliceMs, race.sliceMs ?? 0)))
    const overheadMs = SLICE_OVERHEAD_MS + settleMsOf(cell)
    // How fast it is, and so how short its open loop may be, is not known before.
    const open = cell.openLoop ? openLoop.maxMs + overheadMs : 0
    return sum + START_MS + cell.warmupMs + measured + loads * overheadMs + open
  }, 0)
}
