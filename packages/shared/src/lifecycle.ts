import { once } from 'node:events'
import type { Logger } from './log.ts'

/** A condition of readiness. It fails if it throws, rejects or returns false, or after a second: then the signal is aborted. */
export type Check = (signal: AbortSignal) => unknown

/** What `/readyz` says, and what ends when the app stops. */
export class Lifecycle {
  readonly #log: Logger
  readonly #stop = new AbortController()
  readonly #checks = new Map<string, Check>()
  readonly #closers: (() => unknown)[] = []
  /** Aborted when the app begins to stop. End endless responses then, such as event streams. */
  readonly signal = this.#stop.signal

  constructor(log: Logger) {
    this.#log = log
  }

  /**
   * Such as `addCheck('database', (signal) => database.query('select 1', { signal }))`. What all replicas share can make all of them unready
   * at once.
   * @param name for the log; `/readyz` does not show it
   */
  addCheck(name: string, check: Check): void {
    this.#checks.set(name, check)
  }

  /** Adds what runs after the last response, such as closing a database. The newest runs first. */
  onClose(closer: () => unknown): void {
    this.#closers.unshift(closer)
  }

  async isReady(): Promise<boolean> {
    const results = await Promise.all([...this.#checks].map((check) => this.#passes(...check)))
    return !this.signal.aborted && results.every(Boolean)
  }

  async #passes(name: string, check: Check): Promise<boolean> {
    const signal = AbortSignal.timeout(1000)
    try {
      const result = await Promise.race([
        check(signal),
        once(signal, 'abort').then(() => signal.throwIfAborted()),
      ])
      if (result !== false) return true
      this.#log.warn({ check: name }, 'not ready')
    } catch (err) {
      this.#log.warn({ check: name, err }, 'not ready')
    }
    return false
  }

  /** Called when the app is told to stop. */
  drain(): void {
    this.#stop.abort()
  }

  /** Called after the last response. It rejects if a closer failed, after it has called the others. */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (const closer of this.#closers) {
      try {
        await closer()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not all was closed')
  }
}
