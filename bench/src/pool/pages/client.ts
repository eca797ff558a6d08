import { Agent, get } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@startgrid/stats/random.ts'
import { PoolError } from '../pool-error.ts'

interface Saturation {
  responses: number
  /** Per second. */
  rate: number
}

interface Offer {
  /** Per second. */
  rate: number
  ms: number
  random: Random
  signal?: AbortSignal | undefined
}

/**
 * A client that sleeps while it has nothing to do, unlike packages/loadgen, which polls: at some hundred pages per second it leaves
 * nearly all of its core to the workers, and how late it is itself is told.
 */
export class PageClient {
  readonly #base: string
  readonly #agent = new Agent({ keepAlive: true })

  /** @param base `http://host:port` */
  constructor(base: string) {
    this.#base = base
  }

  /** @throws {PoolError} for any other status than 200, so that what is refused never counts as fast */
  async read(path: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    get(this.#base + path, { agent: this.#agent }, (response) => {
      let text = ''
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk
      })
      response.once('error', reject).once('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new PoolError(`${path} got ${response.statusCode}: the figures mean nothing.`))
      })
    }).once('error', reject)
    return promise
  }

  /** Some requests in flight all the time. */
  async saturate(path: string, connections: number, ms: number, signal?: AbortSignal): Promise<Saturation> {
    const startedAt = performance.now()
    let responses = 0
    const ask = async () => {
      while (performance.now() - startedAt < ms && !signal?.aborted) {
        await this.read(path)
        responses++
      }
    }
    await Promise.all(Array.from({ length: connections }, ask))
    return { responses, rate: (responses / (performance.now() - startedAt)) * 1000 }
  }

  /**
   * Requests at random times, whatever became of those before.
   * @returns milliseconds from when each was due to the end of its response, and how late it was sent
   */
  async offer(
    path: string,
    { rate, ms, random, signal }: Offer,
  ): Promise<{ latencies: number[]; lags: number[] }> {
    const startedAt = performance.now()
    const lags: number[] = []
    const responses: Promise<number>[] = []
    for (let due = 0; due < ms && !signal?.aborted; due -= (Math.log(1 - random()) / rate) * 1000) {
      const dueAt = startedAt + due
      await until(dueAt)
      lags.push(Math.max(0, performance.now() - dueAt))
      const response = this.read(path).then(() => performance.now() - dueAt)
      response.catch(() => {}) // thrown at the end
      responses.push(response)
    }
    return { latencies: await Promise.all(responses), lags }
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Timers have whole milliseconds, and a request that is sent early would have a latency below zero: the last one is polled. */
async function until(time: number): Promise<void> {
  const wait = time - performance.now()
  if (wait > 1) await sleep(wait - 1)
  while (performance.now() < time) await nextTurn()
}
