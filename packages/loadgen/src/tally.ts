import { readText } from '@startgrid/machine/proc.ts'
import type { Connection } from './connection.ts'
import type { Checker } from './expectation.ts'
import { Recorder } from './recording.ts'
import { type Counts, type ErrorKind, type LoopReport, type Measurement, noErrors } from './result.ts'

/** When requests are sent and counted: `performance.now()`. */
export interface Schedule {
  /** The end of the warm-up. Requests that are due later are counted. */
  from: number
  /** The end of the load. */
  until: number
}

/** Adds up what happened to the requests that count: those due since the warm-up ended. Times are `performance.now()`. */
export class Tally {
  readonly counts: Omit<Counts, 'seconds'> = {
    requests: 0,
    errors: noErrors(),
    bytes: 0,
    checked: 0,
    statuses: {},
    handshakes: {},
  }
  readonly #checker: Checker
  readonly #schedule: Readonly<Schedule>
  readonly #latency = new Recorder()
  /** Only an open loop has a schedule, so that requests can be late. */
  readonly #open: { due: number; sent: number; late: number; service: Recorder; lag: Recorder } | undefined
  #firstDue = Number.POSITIVE_INFINITY
  #lastResponseAt = 0

  constructor(checker: Checker, schedule: Readonly<Schedule>, isOpen: boolean) {
    this.#checker = checker
    this.#schedule = schedule
    if (isOpen) this.#open = { due: 0, sent: 0, late: 0, service: new Recorder(), lag: new Recorder() }
  }

  /** Open loop: the polling loop came to a request. */
  reached(due: number, now: number): void {
    if (this.#open === undefined || due < this.#schedule.from) return
    this.#open.due++
    if (now > this.#schedule.until) this.#open.late++
    this.#open.lag.record(now - due)
  }

  sent(intended: number, now: number): void {
    if (intended < this.#schedule.from) return
    if (this.#open !== undefined && now <= this.#schedule.until) this.#open.sent++
    if (intended < this.#firstDue) this.#firstDue = intended
  }

  responded(connection: Connection, now: number): void {
    const { intended, parser, sampled, path } = connection
    const body = sampled ? parser.body() : undefined
    if (intended < this.#schedule.from) return
    const { counts } = this
    counts.requests++
    this.#lastResponseAt = now
    counts.bytes += connection.received
    counts.statuses[parser.status] = (counts.statuses[parser.status] ?? 0) + 1
    this.#latency.record(now - intended)
    this.#open?.service.record(now - connection.sent)
    if (body !== undefined && parser.status === this.#checker.status) counts.checked++
    const kind = this.#checker.verdict(parser, body, path)
    if (kind !== undefined) counts.errors[kind]++
  }

  /**
   * @param since when the request was due, or the connection asked for
   * @param bytes of an incomplete response
   */
  failed(kind: ErrorKind, since: number, bytes = 0): void {
    if (since < this.#schedule.from) return
    this.counts.errors[kind]++
    this.counts.bytes += bytes
  }

  measurement(watch: LoopWatch): Measurement {
    const { from, until } = this.#schedule
    const last = Math.max(until, this.#lastResponseAt)
    // If no connection was opened, nothing was sent, and the measurement starts with the load.
    const first = this.#firstDue < last ? this.#firstDue : from
    return {
      ...structuredClone(this.counts),
      seconds: Math.max(0, last - first) / 1000,
      latency: this.#latency.recording(),
      arrivals: this.#open
        ? {
            ...this.#open,
            seconds: Math.max(0, until - from) / 1000,
            lag: this.#open.lag.recording(),
            service: this.#open.service.recording(),
          }
        : null,
      loop: watch.report(),
    }
  }
}

/** Watches the polling loop. Times are `performance.now()`. */
export class LoopWatch {
  /** Increment it whenever something is sent or received. */
  events = 0
  #beganAt = 0
  #last = 0
  #seen = 0
  #busyMs = 0
  #waitedBefore = Number.NaN

  /** Turns count from now on. */
  begin(now: number): void {
    this.#beganAt = now
    this.#last = now
    this.#busyMs = 0
    this.#waitedBefore = secondsWaited()
  }

  /** The loop begins another turn. */
  turn(now: number): void {
    if (this.events !== this.#seen) this.#busyMs += now - this.#last
    this.#seen = this.events
    this.#last = now
  }

  report(): LoopReport {
    const waited = secondsWaited() - this.#waitedBefore
    return {
      busy: this.#busyMs / (this.#last - this.#beganAt) || 0,
      waitSeconds: waited >= 0 ? waited : null,
    }
  }
}

/**
 * Seconds for which this thread was ready to run but had no core (https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat); NaN where the
 * system does not tell. V8's helper threads are left out: they wait for the core that a generator polls on, and that is not a problem.
 */
function secondsWaited(): number {
  return Number(readText('/proc/thread-self/schedstat').split(' ')[1] ?? Number.NaN) / 1e9
}
