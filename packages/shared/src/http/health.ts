import type { Logger } from '../process/log.ts'
import { type Check, Checks } from './checks.ts'

/** Liveness and readiness, in the media type of draft-inadarei-api-health-check, and what to close at the end. */
export class Health {
  /** True after `drain()`: `/readyz` fails and every response says `connection: close`. A plain field is fast: every request reads it. */
  draining = false
  readonly #stop = new AbortController()
  /** Aborted by `drain()`. It ends streams that would never end by themselves, such as server-sent events. */
  readonly signal = this.#stop.signal
  readonly #checks: Checks
  readonly #callbacks: (() => unknown)[] = []

  /** @param log gets a line when a check begins to fail, and when it passes again */
  constructor(log?: Pick<Logger, 'info' | 'warn'>) {
    this.#checks = new Checks(log)
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
    this.#checks.add(name, check)
  }

  /** Whether `/readyz` passes: not draining, and no check fails. */
  async isReady(): Promise<boolean> {
    return !this.draining && (await this.#checks.pass()) && !this.draining
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
