import { type Checked, occurred, type SlicePlan } from './driver.ts'
import { LastingGenerator } from './generator.ts'

/** Long enough for a few hundred answers of a fast server; a slow one answers every connection once. */
const CHECK_MS = 100

/** One in ten: a hundredth of so short a load would be too few. */
const CHECK_EVERY = 10

/**
 * Compares answers for drivers that cannot: Startgrid's generator asks for the same, on the same core, with as many connections. Every
 * answer's status and length are compared, and the content of one in ten.
 */
export class AnswerChecker {
  readonly #generator: LastingGenerator

  /** @param cpu the only core that it may use */
  constructor(cpu: number | undefined) {
    this.#generator = new LastingGenerator({ cpu })
  }

  /** Nothing is compared if nothing is expected. @throws {LoadError} if the load cannot be offered */
  async check(plan: SlicePlan): Promise<Checked> {
    if (plan.expect === undefined) return { checked: 0, errors: {} }
    const expect = { ...plan.expect, checkEvery: CHECK_EVERY }
    const { checked, errors } = await this.#generator.offer({ ...plan, durationMs: CHECK_MS, expect })
    return { checked, errors: occurred(errors) }
  }

  /** @returns bytes of the body of one answer; @throws {LoadError} if there is none with status 200 */
  answerLength(place: Pick<SlicePlan, 'target' | 'path'>): Promise<number> {
    return this.#generator.answerLength(place)
  }

  /** Ends its process; resolves when it is gone. */
  stop(): Promise<void> {
    return this.#generator.stop()
  }
}
