import { sumErrors } from '@startgrid/loadgen'
import { type Checked, occurred, type SlicePlan } from './driver.ts'
import { LastingGenerator } from './generator.ts'

/** Long enough for a few hundred responses of a fast server; a slow one responds once on every connection. */
const CHECK_MS = 100

/** One in ten: a hundredth of so short a load would be too few. */
const CHECK_EVERY = 10

/** On a busy machine, so short a load may end before it has a response to compare. */
const TRIES = 5

/**
 * A well-known generator, which cannot compare responses. Before each slice Startgrid's generator asks for the same, on the same core, with as
 * many connections. Every response's status and length are compared, and the content of one in ten.
 */
export abstract class ForeignDriver {
  readonly version: string
  /** The only core that it may use. */
  protected readonly cpu: number | undefined
  readonly #checker: LastingGenerator

  constructor(version: string, cpu: number | undefined) {
    this.version = version
    this.cpu = cpu
    this.#checker = new LastingGenerator({ cpu })
  }

  /** Nothing is compared if nothing is expected. @throws {LoadError} if the load cannot be offered */
  async check(plan: SlicePlan): Promise<Checked> {
    if (plan.expect === undefined) return { checked: 0, errors: {} }
    const expect = { ...plan.expect, checkEvery: CHECK_EVERY }
    const load = { ...plan, durationMs: CHECK_MS, expect }
    let result = await this.#checker.offer(load)
    const isEmpty = () => result.checked === 0 && sumErrors(result.errors) === 0
    for (let tries = 1; tries < TRIES && isEmpty() && !plan.signal?.aborted; tries++)
      result = await this.#checker.offer(load)
    return { checked: result.checked, errors: occurred(result.errors) }
  }

  /** @returns bytes of the body of one response; @throws {LoadError} if there is none with status 200 */
  responseLength(place: { target: SlicePlan['target']; path: string }): Promise<number> {
    return this.#checker.responseLength(place)
  }

  /** Ends all processes; resolves when they are gone. */
  stop(): Promise<void> {
    return this.#checker.stop()
  }
}

/** The words that run a program on one core only: `taskset` on Linux; elsewhere nothing does that, and the core is ignored. */
export function pinned(
  command: readonly [string, ...string[]],
  cpu: number | undefined,
): [string, ...string[]] {
  return cpu !== undefined && process.platform === 'linux'
    ? ['taskset', '-c', String(cpu), ...command]
    : [...command]
}
