import { createHistogram } from 'node:perf_hooks'
import type { ErrorCounts } from '@startgrid/loadgen'
import type { LatencySeconds } from './driver.ts'

/** What one load by autocannon measured: plain data, sent between processes. */
export interface AutocannonLoad {
  requests: number
  seconds: number
  errors: Pick<ErrorCounts, 'connect' | 'reset' | 'timeout' | 'status'>
  latencySeconds: LatencySeconds
}

/** An hour in nanoseconds: longer latencies are told as this. */
const LONGEST = 3600e9

/**
 * Counts autocannon's responses. Its own figures will not do: it rounds latencies to milliseconds, and its rate includes making the
 * connections, 15 ms for 64. Here time begins when as many responses have come as there are connections, and these are not counted.
 */
export class AutocannonTally {
  readonly errors = { connect: 0, reset: 0, timeout: 0, status: 0 }
  readonly #status: number
  readonly #connections: number
  readonly #histogram = createHistogram({ lowest: 1, highest: LONGEST, figures: 3 })
  #responses = 0
  #sum = 0
  #from = 0
  #last = 0

  /** @param now milliseconds, of the same clock as in the other calls */
  constructor({ connections, status, now }: { connections: number; status: number; now: number }) {
    this.#connections = connections
    this.#status = status
    this.#from = now
  }

  /** @param milliseconds from the request to the response */
  responded(status: number, milliseconds: number, now: number): void {
    if (status !== this.#status) this.errors.status++
    this.#last = now
    this.#responses++
    if (this.#responses <= this.#connections) {
      this.#from = now
      return
    }
    this.#sum += milliseconds
    this.#histogram.record(Math.min(LONGEST, Math.max(1, Math.round(milliseconds * 1e6))))
  }

  failed(kind: 'connect' | 'reset' | 'timeout'): void {
    this.errors[kind]++
  }

  /**
   * Call it once, at the end. autocannon says nothing when a server closes a connection before its response: the request is just
   * neither completed, nor failed, nor in flight.
   * @param sent requests, the ones in flight included; @param stoppedAt when the end was asked for: later responses still count
   */
  finish({ sent, stoppedAt }: { sent: number; stoppedAt: number }): AutocannonLoad {
    const { connect, reset, timeout } = this.errors
    const lost = sent - this.#responses - connect - reset - timeout - this.#connections
    const requests = Math.max(0, this.#responses - this.#connections)
    return {
      requests,
      seconds: (Math.max(this.#last, stoppedAt) - this.#from) / 1000,
      errors: { ...this.errors, reset: reset + Math.max(0, lost) },
      latencySeconds: {
        mean: requests > 0 ? this.#sum / requests / 1000 : 0,
        p50: requests > 0 ? this.#histogram.percentile(50) / 1e9 : 0,
        p99: requests > 0 ? this.#histogram.percentile(99) / 1e9 : 0,
      },
    }
  }
}
