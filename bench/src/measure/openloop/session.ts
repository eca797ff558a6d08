import type { StartgridDriver } from '../../drivers/startgrid.ts'
import { capacityMs } from '../../experiment/open-loop-effort.ts'
import type { LoadSpec } from '../../judge/trial.ts'
import type { CellSpec, Trial } from '../../model/result.ts'
import type { Course } from '../heat.ts'
import { CellFailure, type Entrant } from '../slice.ts'
import { measureTrial } from '../trial.ts'

/** One fresh launch of one cell, warm and under load. */
export class Session {
  readonly cell: CellSpec
  readonly #course: Course<CellSpec>
  readonly #entrant: Entrant<CellSpec, StartgridDriver>
  readonly #record: (trial: Trial) => void
  /** Responses per second in closed loop, as last seen. */
  #rate: number

  /** @param record called with every trial, used or not; @throws {CellFailure} if the warm-up had no response */
  constructor(
    course: Course<CellSpec>,
    entrant: Entrant<CellSpec, StartgridDriver>,
    record: (trial: Trial) => void,
  ) {
    this.cell = entrant.cell
    this.#course = course
    this.#entrant = entrant
    this.#record = record
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
   * Offers one load and records it.
   * @throws {CellFailure} if it cannot be offered, or a server is no longer there
   * @throws the signal's reason after an abort
   */
  async take(spec: LoadSpec): Promise<Trial> {
    const { planned, random } = this.#course
    const options = { launch: planned.heat, seed: Math.floor(random() * 2 ** 32) }
    const { trial } = await measureTrial(this.#course, this.#entrant, spec, options)
    this.#record(trial)
    return trial
  }
}
