import type { Logger } from '../process/log.ts'

/**
 * Passes, unless it throws, rejects or returns false.
 * @param signal aborted when the time is over
 */
export type Check = (signal: AbortSignal) => unknown

interface NamedCheck {
  readonly name: string
  readonly check: Check
  passes: boolean
}

/** Milliseconds for which a result is kept. A check has the same time to respond. */
const ROUND_MS = 1_000

/** The conditions of readiness. They run in parallel, and at most once per second. A check that needs longer than that fails. */
export class Checks {
  readonly #log: Pick<Logger, 'info' | 'warn'> | undefined
  readonly #checks: NamedCheck[] = []
  #round: Promise<boolean> | undefined

  /** @param log gets a line when a check begins to fail, and when it passes again */
  constructor(log?: Pick<Logger, 'info' | 'warn'>) {
    this.#log = log
  }

  add(name: string, check: Check): void {
    this.#checks.push({ name, check, passes: true })
  }

  async pass(): Promise<boolean> {
    if (this.#checks.length === 0) return true
    this.#round ??= this.#run()
    return await this.#round
  }

  async #run(): Promise<boolean> {
    const time = new AbortController()
    const { promise: late, reject } = Promise.withResolvers<never>()
    late.catch(() => {}) // usually, nothing waits for it any more
    setTimeout(() => {
      this.#round = undefined
      const error = new Error(`The check did not respond within ${ROUND_MS} ms.`)
      time.abort(error)
      reject(error)
    }, ROUND_MS).unref()
    const results = await Promise.all(this.#checks.map((check) => this.#runCheck(check, time.signal, late)))
    return results.every(Boolean)
  }

  async #runCheck(named: NamedCheck, signal: AbortSignal, late: Promise<never>): Promise<boolean> {
    const { name, check, passes } = named
    let cause: unknown
    try {
      named.passes = (await Promise.race([(async () => check(signal))(), late])) !== false
    } catch (error) {
      named.passes = false
      cause = error
    }
    if (passes && !named.passes) this.#log?.warn({ check: name, err: cause }, 'check fails')
    if (!passes && named.passes) this.#log?.info({ check: name }, 'check passes again')
    return named.passes
  }
}
