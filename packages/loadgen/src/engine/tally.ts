import type { Connection } from '../http/connection.ts'
import type { Checker } from '../http/expectation.ts'
import { type ErrorKind, noErrors } from '../report/result.ts'
import type { Schedule } from './dispatcher.ts'
import type { LoopWatch } from './loop-watch.ts'
import type { Arrivals, Measurement } from './measurement.ts'
import { Recorder } from './recorder.ts'

/** Adds up what happened to the requests that count: those due since the warm-up ended. Times are `performance.now()`. */
export class Tally {
  readonly #checker: Checker
  readonly #latency = new Recorder()
  readonly #errors = noErrors()
  /** Indexed by status. */
  readonly #statuses = new Uint32Array(1000)
  #from = Number.POSITIVE_INFINITY
  #firstDue = Number.POSITIVE_INFINITY
  #lastResponseAt = 0
  #cpuBefore = process.cpuUsage()
  #requests = 0
  #bytes = 0
  #checked = 0
  readonly #open: OpenTally | undefined

  /** @param isOpen whether requests have a schedule */
  constructor(checker: Checker, isOpen: boolean) {
    this.#checker = checker
    this.#open = isOpen ? new OpenTally() : undefined
  }

  /** Requests that are due, or tried, from `now` on are counted. */
  begin(now: number): void {
    this.#from = now
    this.#readCpu()
  }

  /** Open loop: the polling loop came to a request. */
  reached(due: number, now: number, { until }: Schedule): void {
    if (due >= this.#from) this.#open?.reached(due, now, until)
  }

  sent(intended: number, now: number, { until }: Schedule): void {
    if (intended < this.#from) return
    if (now <= until) this.#open?.sentInTime()
    if (this.#firstDue <= intended) return
    this.#firstDue = intended
    this.#readCpu()
  }

  responded(connection: Connection, now: number): void {
    const { intended, parser, sampled, path } = connection
    const body = sampled ? parser.body() : undefined
    if (intended < this.#from) return
    this.#requests++
    this.#lastResponseAt = now
    this.#bytes += connection.received
    this.#statuses[parser.status] = (this.#statuses[parser.status] ?? 0) + 1
    this.#latency.record(now - intended)
    this.#open?.responded(now - connection.sent)
    if (body !== undefined && parser.status === this.#checker.status) this.#checked++
    const kind = this.#checker.verdict(parser, body, path)
    if (kind !== undefined) this.#errors[kind]++
  }

  /** @param since when the request was due, or the connection asked for */
  failed(kind: ErrorKind, since: number): void {
    if (since < this.#from) return
    this.#errors[kind]++
  }

  /** Counts the bytes of an incomplete response. @param since when the request was due */
  wasted(bytes: number, since: number): void {
    if (since >= this.#from) this.#bytes += bytes
  }

  measurement(schedule: Schedule, watch: LoopWatch): Omit<Measurement, 'handshakes'> {
    const last = Math.max(schedule.until, this.#lastResponseAt)
    // If no connection was opened, nothing was sent, and the measurement starts with the first attempt.
    const first = this.#firstDue < last ? this.#firstDue : this.#from
    const seconds = Math.max(0, last - first) / 1000
    const { user, system } = process.cpuUsage(this.#cpuBefore)
    return {
      requests: this.#requests,
      seconds,
      errors: { ...this.#errors },
      bytes: this.#bytes,
      checked: this.#checked,
      statuses: this.#statusCounts(),
      latency: this.#latency.recording(),
      service: this.#open?.service() ?? null,
      arrivals: this.#open?.arrivals(schedule) ?? null,
      cpuSeconds: seconds > 0 ? (user + system) / 1e6 : 0,
      loop: watch.report(),
    }
  }

  #readCpu(): void {
    this.#cpuBefore = process.cpuUsage()
  }

  #statusCounts(): Record<string, number> {
    const counts: Record<string, number> = {}
    this.#statuses.forEach((count, status) => {
      if (count > 0) counts[status] = count
    })
    return counts
  }
}

/** What only an open loop has: a schedule, and how it was kept. */
class OpenTally {
  readonly #service = new Recorder()
  readonly #lag = new Recorder()
  #due = 0
  #sent = 0
  #late = 0

  reached(due: number, now: number, until: number): void {
    this.#due++
    if (now > until) this.#late++
    this.#lag.record(now - due)
  }

  sentInTime(): void {
    this.#sent++
  }

  responded(serviceMs: number): void {
    this.#service.record(serviceMs)
  }

  service() {
    return this.#service.recording()
  }

  arrivals({ from, until }: Schedule): Arrivals {
    const seconds = Math.max(0, until - from) / 1000
    return { seconds, due: this.#due, sent: this.#sent, late: this.#late, lag: this.#lag.recording() }
  }
}
