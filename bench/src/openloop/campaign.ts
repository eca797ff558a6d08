import { formatMinutes } from '@startgrid/cli/duration.ts'
import { plural } from '@startgrid/cli/text.ts'
import { createRandom, type Random, shuffle } from '@startgrid/stats/random.ts'
import { createStartgridDriver } from '../drivers/create.ts'
import type { StartgridDriver } from '../drivers/startgrid.ts'
import type { EnvironmentOptions } from '../environments/environment.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from '../measure/preparation.ts'
import { createResult, openEnvironment } from '../measure/run.ts'
import { CellFailure } from '../measure/slice.ts'
import type { CellSpec, Result, Trial } from '../model/result.ts'
import type { OpenLoopKind, OpenLoopOptions } from '../plan/options.ts'
import { analyseOpenLoop } from './analyse.ts'
import { Session } from './session.ts'

/** What is done on each launch, and how long that is expected to take. */
export interface Method {
  /** Launches per cell. */
  launches: number
  /** In milliseconds, if nobody disturbs it. */
  expectedMs(cell: CellSpec, launch: number): number
  /** @returns whether it is complete; false if others disturbed a part of it, so that one more launch is worth the time */
  measure(session: Session, launch: number): Promise<boolean>
}

/** A result without measurements: the plan of a campaign. Every cell is launched apart, so each has the whole warm-up. */
export function createOpenLoopResult(kind: OpenLoopKind, options: OpenLoopOptions, command: string): Result {
  const { topologies, p99Ms } = options
  const results = topologies.map((topology) =>
    createResult({ ...options, topologies: [topology] }, kind, command),
  )
  const [first] = results
  if (first === undefined) throw new RangeError('There is no topology to measure.')
  // The A/A twin is for races: here nothing is ranked.
  const cells = results.flatMap((one) => one.cells).filter(({ twinOf }) => twinOf === null)
  return { ...first, cells, settings: { ...first.settings, p99Ms } }
}

/** Milliseconds, if nobody disturbs it. */
export function expectedCampaignMs(cells: readonly CellSpec[], method: Method): number {
  const launches = Array.from({ length: method.launches }, (_, index) => index + 1)
  return cells.reduce(
    (sum, cell) => sum + launches.reduce((own, launch) => own + method.expectedMs(cell, launch), 0),
    0,
  )
}

/**
 * Measures all cells of a result, which is filled in place: in rounds, each with one fresh launch of every cell, in random order, so
 * that a slow minute does not hit one cell alone. One app runs at a time. What goes wrong with a cell is recorded, the others go on.
 */
export async function runCampaign(
  result: Result,
  method: Method,
  context: RunContext<Result>,
): Promise<void> {
  const preparation = {
    ...context,
    openEnvironment: (options: EnvironmentOptions) => openEnvironment(result, options),
    createDriver: createStartgridDriver,
    figures: analyseOpenLoop,
  }
  await withPreparedRun(result, preparation, (prepared) => new Campaign(method, prepared).run())
}

interface PlannedLaunch {
  cell: CellSpec
  launch: number
}

class Campaign {
  readonly #result: Result
  readonly #method: Method
  readonly #prepared: PreparedRun<Result, StartgridDriver>
  readonly #random: Random
  /** Launches that others disturbed, by cell. */
  readonly #incomplete = new Map<string, number>()

  constructor(method: Method, prepared: PreparedRun<Result, StartgridDriver>) {
    this.#result = prepared.result
    this.#random = createRandom(prepared.result.seed)
    this.#method = method
    this.#prepared = prepared
  }

  async run(): Promise<void> {
    const { progress, signal } = this.#prepared
    const { cells, seed } = this.#result
    const valid = cells.filter((cell) => this.#isValid(cell))
    const launches = planLaunches(valid, this.#method.launches, seed)
    if (launches.length === 0 || signal.aborted) return
    const total = expectedCampaignMs(valid, this.#method)
    progress.say(
      `${plural(valid.length, 'cell')}, ${plural(launches.length, 'start')}, about ${formatMinutes(total)} ` +
        '(minutes:seconds); more while others use the machine.',
    )
    progress.begin(total)
    let before = 0
    for (const planned of launches) {
      progress.update(
        before / total,
        `${planned.cell.id}, launch ${planned.launch} of ${this.#method.launches}`,
      )
      await this.#runOne(planned)
      before += this.#method.expectedMs(planned.cell, planned.launch)
    }
    await this.#runExtra(valid)
  }

  /** Launches that others disturbed are made up for, half as many as planned at most; decided by what others did alone. */
  async #runExtra(cells: readonly CellSpec[]): Promise<void> {
    const { launches } = this.#method
    for (let extra = 1; extra <= Math.ceil(launches / 2); extra++) {
      for (const cell of shuffle(cells, this.#random)) {
        if ((this.#incomplete.get(cell.id) ?? 0) < extra) continue
        this.#prepared.progress.update(
          1,
          `${cell.id}, launch ${launches + extra}: others disturbed another one`,
        )
        await this.#runOne({ cell, launch: launches + extra })
      }
    }
  }

  /** What failed stays void: measuring it again would only cost time. */
  #isValid({ id, skipped }: CellSpec): boolean {
    const { conformance, failures } = this.#result
    const differs = conformance.some(({ cell, differences }) => cell === id && differences.length > 0)
    return skipped === null && !differs && !failures.some(({ cell }) => cell === id)
  }

  async #runOne({ cell, launch }: PlannedLaunch): Promise<void> {
    const { signal, progress, store } = this.#prepared
    if (signal.aborted || !this.#isValid(cell)) return
    const taken: Trial[] = []
    try {
      if (!(await this.#measure(cell, launch, taken)))
        this.#incomplete.set(cell.id, (this.#incomplete.get(cell.id) ?? 0) + 1)
    } catch (error) {
      if (signal.aborted) return // half a launch is none
      if (!(error instanceof CellFailure)) throw error
      this.#result.failures.push({ cell: cell.id, launch, reason: error.message })
      progress.say(`${cell.id} is void: ${error.message}.`)
    }
    this.#result.trials.push(...taken)
    store()
  }

  async #measure(cell: CellSpec, launch: number, taken: Trial[]): Promise<boolean> {
    const { environment, drivers, signal } = this.#prepared
    const record = (trial: Trial) => taken.push(trial)
    const session = await Session.start({
      cell,
      launch,
      environment,
      driver: drivers.usual,
      signal,
      random: this.#random,
      record,
    })
    try {
      return await this.#method.measure(session, launch)
    } finally {
      await session.stop()
    }
  }
}

/** Every cell's first launch before any second one. */
export function planLaunches(cells: readonly CellSpec[], launches: number, seed: number): PlannedLaunch[] {
  const random = createRandom(seed)
  return Array.from({ length: launches }, (_, index) =>
    shuffle(cells, random).map((cell) => ({ cell, launch: index + 1 })),
  ).flat()
}
