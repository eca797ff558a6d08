import type { Connection } from './connection.ts'
import type { Checker } from './expectation.ts'
import { LatencyRecorder } from './latency.ts'
import { type ErrorKind, type LoadResult, noErrors, sumErrors } from './result.ts'

/** Adds up what happened to the requests that count: those sent since `begin`. Times are milliseconds of `performance.now()`. */
export class Tally {
  readonly #latency: LatencyRecorder
  readonly #errors = noErrors()
  /** Indexed by status. */
  readonly #statuses = new Uint32Array(1000)
  #from = Number.POSITIVE_INFINITY
  #firstSentAt = Number.POSITIVE_INFINITY
  #lastAnswerAt = 0
  #cpuAtStart = process.cpuUsage()
  #requests = 0
  #bytes = 0
  #checked = 0

  /** @param timeoutMs no answer takes much longer */
  constructor(timeoutMs: number) {
    this.#latency = new LatencyRecorder(2 * timeoutMs + 1_000)
  }

  /** What is sent, or tried, from `now` on counts. */
  begin(now: number): void {
    this.#from = now
    this.#cpuAtStart = process.cpuUsage()
  }

  sent(now: number): void {
    if (now < this.#from || this.#firstSentAt <= now) return
    this.#firstSentAt = now
    this.#cpuAtStart = process.cpuUsage()
  }

  answered(connection: Connection, now: number, checker: Checker): void {
    const { since, parser, sampled } = connection
    const body = sampled ? parser.takeBody() : undefined
    if (since < this.#from) return
    this.#requests++
    this.#lastAnswerAt = now
    this.#bytes += connection.received
    this.#statuses[parser.status] = (this.#statuses[parser.status] ?? 0) + 1
    this.#latency.record(now - since)
    if (parser.status !== checker.status) this.#errors.status++
    else if (!this.#isRight(parser.bodyLength, body, checker)) this.#errors.body++
  }

  failed({ since, received, waiting }: Connection, kind: ErrorKind): void {
    if (since < this.#from) return
    this.#errors[kind]++
    if (waiting) this.#bytes += received
  }

  progress(): { requests: number; errors: number } {
    return { requests: this.#requests, errors: sumErrors(this.#errors) }
  }

  /** @param notBefore the earliest end of the measured stretch; the last answer may be later */
  result(notBefore: number): LoadResult {
    const end = Math.max(notBefore, this.#lastAnswerAt)
    // Where no connection could be opened nothing was sent: then the stretch begins with the first attempt.
    const start = this.#firstSentAt < end ? this.#firstSentAt : this.#from
    const seconds = Math.max(0, end - start) / 1000
    const cpu = process.cpuUsage(this.#cpuAtStart)
    const cpuSeconds = seconds > 0 ? (cpu.user + cpu.system) / 1e6 : 0
    return {
      requests: this.#requests,
      seconds,
      rate: seconds > 0 ? this.#requests / seconds : 0,
      errors: { ...this.#errors },
      bytes: this.#bytes,
      checked: this.#checked,
      statuses: this.#statusCounts(),
      latency: this.#latency.summary(),
      cpu: { seconds: cpuSeconds, utilisation: seconds > 0 ? Math.min(1, cpuSeconds / seconds) : 0 },
    }
  }

  #isRight(length: number, body: Buffer | undefined, checker: Checker): boolean {
    if (body !== undefined) this.#checked++
    return checker.hasLength(length) && (body === undefined || checker.hasContent(body))
  }

  #statusCounts(): Record<string, number> {
    const counts: Record<string, number> = {}
    this.#statuses.forEach((count, status) => {
      if (count > 0) counts[status] = count
    })
    return counts
  }
}
