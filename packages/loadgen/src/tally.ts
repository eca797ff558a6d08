import { readFileSync } from 'node:fs'
import type { Connection } from './connection.ts'
import type { Checker } from './expectation.ts'
import type { Schedule } from './loops.ts'
import { Recorder } from './recording.ts'
import { type ErrorKind, type LoopReport, type Measurement, noErrors } from './result.ts'

/** Adds up what happened to the requests that count: those due since the warm-up ended. Times are `performance.now()`. */
export class Tally {
  readonly #checker: Checker
  readonly #schedule: Readonly<Schedule>
  readonly #latency = new Recorder()
  /** Only an open loop has a schedule, so that requests can be late. */
  readonly #open: { service: Recorder; lag: Recorder } | undefined
  readonly #errors = noErrors()
  /** Indexed by status. */
  readonly #statuses = new Uint32Array(1000)
  #firstDue = Number.POSITIVE_INFINITY
  #lastResponseAt = 0
  #requests = 0
  #bytes = 0
  #checked = 0
  #due = 0
  #sent = 0
  #late = 0

  constructor(checker: Checker, schedule: Readonly<Schedule>, isOpen: boolean) {
    this.#checker = checker
    this.#schedule = schedule
    this.#open = isOpen ? { service: new Recorder(), lag: new Recorder() } : undefined
  }

  /** Open loop: the polling loop came to a request. */
  reached(due: number, now: number): void {
    if (due < this.#schedule.from) return
    this.#due++
    if (now > this.#schedule.until) this.#late++
    this.#open?.lag.record(now - due)
  }

  sent(intended: number, now: number): void {
    if (intended < this.#schedule.from) return
    if (now <= this.#schedule.until) this.#sent++
    if (intended < this.#firstDue) this.#firstDue = intended
  }

  responded(connection: Connection, now: number): void {
    const { intended, parser, sampled, path } = connection
    const body = sampled ? parser.body() : undefined
    if (intended < this.#schedule.from) return
    this.#requests++
    this.#lastResponseAt = now
    this.#bytes += connection.received
    this.#statuses[parser.status] = (this.#statuses[parser.status] ?? 0) + 1
    this.#latency.record(now - intended)
    this.#open?.service.record(now - connection.sent)
    if (body !== undefined && parser.status === this.#checker.status) this.#checked++
    const kind = this.#checker.verdict(parser, body, path)
    if (kind !== undefined) this.#errors[kind]++
  }

  /**
   * @param since when the request was due, or the connection asked for
   * @param bytes of an incomplete response
   */
  failed(kind: ErrorKind, since: number, bytes = 0): void {
    if (since < this.#schedule.from) return
    this.#errors[kind]++
    this.#bytes += bytes
  }

  measurement(watch: LoopWatch, handshakes: Record<string, number>): Measurement {
    const { from, until } = this.#schedule
    const last = Math.max(until, this.#lastResponseAt)
    // If no connection was opened, nothing was sent, and the measurement starts with the load.
    const first = this.#firstDue < last ? this.#firstDue : from
    const entries = [...this.#statuses.entries()].filter(([, count]) => count > 0)
    return {
      requests: this.#requests,
      seconds: Math.max(0, last - first) / 1000,
      errors: { ...this.#errors },
      bytes: this.#bytes,
      checked: this.#checked,
      statuses: Object.fromEntries(entries),
      handshakes,
      latency: this.#latency.recording(),
      arrivals:
        this.#open === undefined
          ? null
          : {
              seconds: Math.max(0, until - from) / 1000,
              due: this.#due,
              sent: this.#sent,
              late: this.#late,
              lag: this.#open.lag.recording(),
              service: this.#open.service.recording(),
            },
      loop: watch.report(),
    }
  }
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
