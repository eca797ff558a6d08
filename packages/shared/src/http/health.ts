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

/** Liveness and readiness, in the media type of draft-inadarei-api-health-check, and what to close at the end. */
export class Health {
  /** True after `drain()`: `/readyz` fails and every response says `connection: close`. A plain field is fast: every request reads it. */
  draining = false
  readonly #stop = new AbortController()
  /** Aborted by `drain()`. It ends streams that would never end by themselves, such as server-sent events. */
  readonly signal = this.#stop.signal
  readonly #log: Pick<Logger, 'info' | 'warn'> | undefined
  readonly #checks: NamedCheck[] = []
  #round: Promise<boolean> | undefined
  readonly #callbacks: (() => unknown)[] = []

  /** @param log gets a line when a check begins to fail, and when it passes again */
  constructor(log?: Pick<Logger, 'info' | 'warn'>) {
    this.#log = log
  }

  /** Called once, when the process is told to stop. */
  drain(): void {
    this.draining = true
    this.#stop.abort()
  }

  /**
   * Adds a condition of readiness, such as a database that responds. If several replicas share what it checks, they all become unready
   * together when that fails.
   * @param name for the log; `/readyz` does not show it
   */
  addCheck(name: string, check: Check): void {
    this.#checks.push({ name, check, passes: true })
  }

  /**
   * Whether `/readyz` passes: not draining, and no check fails. The checks run in parallel, and at most once per second. A check that needs
   * longer than that fails.
   */
  async isReady(): Promise<boolean> {
    if (this.draining) return false
    if (this.#checks.length === 0) return true
    this.#round ??= this.#runChecks()
    return (await this.#round) && !this.draining
  }

  async #runChecks(): Promise<boolean> {
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

  /** Adds a callback that runs after the last response, such as one that closes a database. The newest runs first. */
  onClose(callback: () => unknown): void {
    this.#callbacks.push(callback)
  }

  /**
   * Runs the callbacks of `onClose`, one after the other. Called once, after the last response.
   * @throws {AggregateError} if some reject, after all have run
   */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (const callback of this.#callbacks.toReversed()) {
      try {
        await callback()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'A callback of onClose failed.')
  }
}

export const PASS = '{"status":"pass"}'
export const FAIL = '{"status":"fail"}'

/** Orchestrators request these paths every few seconds, so they are not logged. */
export function isProbe(target: string): boolean {
  return target === '/livez' || target === '/readyz'
}
