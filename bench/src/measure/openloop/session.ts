import type { StartgridDriver } from '../../drivers/startgrid.ts'
import { capacityMs } from '../../experiment/open-loop-effort.ts'
import type { LoadSpec } from '../../judge/trial.ts'
import type { Cell } from '../../model/cell.ts'
import type { Trial } from '../../model/heat.ts'
import type { Run } from '../../model/result.ts'
import type { Course } from '../heat.ts'
import { CellFailure, type Entrant, measureTrial } from '../load.ts'

/** What an open loop does on each launch, and how long that is expected to take. */
export interface Method {
  /** Launches per cell. */
  launches: number
  /** In milliseconds, if nobody disturbs it. */
  expectedMs(cell: Cell, launch: number): number
  measure(session: Session, launch: number): Promise<void>
}

/** Milliseconds of the launches that a result lacks, if nobody disturbs it. */
export function expectedOpenLoopMs({ cells, heats }: Pick<Run, 'cells' | 'heats'>, method: Method): number {
  const done = new Set(heats.map(({ race, heat }) => `${race} ${heat}`))
  const launches = Array.from({ length: method.launches }, (_, index) => index + 1)
  return cells.reduce((sum, cell) => {
    const open = launches.filter((launch) => !done.has(`${cell.race} ${launch}`))
    return sum + open.reduce((own, launch) => own + method.expectedMs(cell, launch), 0)
  }, 0)
}

/** One fresh launch of one cell, warm and under open loops. */
export class Session {
  readonly cell: Cell
  readonly #course: Course
  readonly #entrant: Entrant<StartgridDriver>
  /** Responses per second in closed loop, as last seen. */
  #rate: number

  /** @throws {CellFailure} if the warm-up had no response */
  constructor(course: Course, entrant: Entrant, driver: StartgridDriver) {
    this.cell = entrant.cell
    this.#course = course
    this.#entrant = { ...entrant, driver }
    this.#rate = course.rates.get(entrant.cell.id) ?? 0
    if (this.#rate === 0) throw new CellFailure('no request got a response')
  }

  /** The closed-loop rate just now, in responses per second. @throws {CellFailure} as `take`, and if there was no response */
  async capacity(): Promise<number> {
    const durationMs = capacityMs(this.#rate, this.cell)
    const { achieved } = await this.take({ purpose: 'capacity', level: 'closed loop', durationMs })
    if (achieved === 0) throw new CellFailure('no request got a response')
    this.#rate = achieved
    return achieved
  }

  /**
   * Offers one load and records it, used or not.
   * @throws {CellFailure} if it cannot be offered, or a server is no longer there
   * @throws the signal's reason after an abort
   */
  async take(spec: LoadSpec): Promise<Trial> {
    const { planned, random, record } = this.#course
    const options = { launch: planned.heat, seed: Math.floor(random() * 2 ** 32) }
    const trial = await measureTrial(this.#course, this.#entrant, spec, options)
    record.trials.push(trial)
    return trial
  }
}
