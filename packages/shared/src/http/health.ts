import { once } from 'node:events'
import type { Logger } from '../process/log.ts'

/** Whether this is the path of a health check. Orchestrators request them every few seconds, so they are not logged. */
export function isProbe(path: string): boolean {
  return path === '/livez' || path === '/readyz'
}

/**
 * A condition of readiness. It passes, unless it throws, rejects or returns false.
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
  /** True after `drain()`: `/readyz` fails. Connections are kept until the server has stopped listening. */
  draining = false
  readonly #stop = new AbortController()
  /** Aborted by `drain()`. It ends streams that would never end by themselves, such as server-sent events. */
  readonly signal = this.#stop.signal
  readonly #log: Pick<Logger, 'info' | 'warn'> | undefined
  readonly #checks: NamedCheck[] = []
  #round: Promise<unknown> | undefined
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

  /** Whether `/readyz` passes: not draining, and no check fails. They run in parallel, and at most once per second. */
  async isReady(): Promise<boolean> {
    if (this.#checks.length > 0) {
      this.#round ??= this.#runChecks()
      await this.#round
    }
    return !this.draining && this.#checks.every(({ passes }) => passes)
  }

  async #runChecks(): Promise<void> {
    const time = new AbortController()
    setTimeout(() => {
      this.#round = undefined
      time.abort(new Error(`The check did not respond within ${ROUND_MS} ms.`))
    }, ROUND_MS).unref()
    await Promise.all(this.#checks.map((check) => this.#run(check, time.signal)))
  }

  async #run(named: NamedCheck, signal: AbortSignal): Promise<void> {
    const { name, check, passes } = named
    let err: unknown
    try {
      const result = await Promise.race([(async () => check(signal))(), once(signal, 'abort')])
      signal.throwIfAborted()
      named.passes = result !== false
    } catch (error) {
      named.passes = false
      err = error
    }
    if (passes && !named.passes) this.#log?.warn({ check: name, err }, 'check fails')
    if (!passes && named.passes) this.#log?.info({ check: name }, 'check passes again')
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
