import { readFileSync } from 'node:fs'

/** What the event loop did while it offered load. */
export interface LoopReport {
  /** Part of the time, 0 to 1, in turns of the loop that sent or received something. In the rest it only polled. */
  busy: number
  /** Seconds for which it was ready to run, but had no core; null where the system does not tell. */
  waitSeconds: number | null
}

/** Watches the polling loop. */
export class LoopWatch {
  /** Increment it whenever something is sent or received. */
  events = 0
  #last = Number.NaN
  #seen = 0
  #busyMs = 0
  #idleMs = 0
  #waitedBefore: number | null = null

  /** Turns count from now on. @param now `performance.now()` */
  begin(now: number): void {
    this.#last = now
    this.#seen = this.events
    this.#waitedBefore = waitedSeconds()
  }

  /** The loop begins another turn. @param now `performance.now()` */
  turn(now: number): void {
    const length = now - this.#last
    this.#last = now
    // Before `begin` the length is not a number.
    if (!(length >= 0)) return
    if (this.events === this.#seen) this.#idleMs += length
    else this.#busyMs += length
    this.#seen = this.events
  }

  report(): LoopReport {
    const [before, waited] = [this.#waitedBefore, waitedSeconds()]
    return {
      busy: this.#busyMs > 0 ? this.#busyMs / (this.#busyMs + this.#idleMs) : 0,
      waitSeconds: before === null || waited === null ? null : Math.max(0, waited - before),
    }
  }
}

/**
 * Seconds for which this thread has waited on a run queue: the second field of
 * https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat. V8's helper threads are left out: they wait for the core
 * that this thread polls on, and that is not a problem.
 */
function waitedSeconds(): number | null {
  try {
    const [, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
    return waited === undefined ? null : Number(waited) / 1e9
  } catch {
    return null
  }
}
