import { createRandom } from '@startgrid/stats/random.ts'
import type { Connection, ConnectionOwner } from './connection.ts'
import { Checker } from './expectation.ts'
import { closedLoop, type Loop, openLoop, poisson } from './loops.ts'
import { LoadError, type LoadOptions, Requests, resolveTarget } from './plan.ts'
import { Pool } from './pool.ts'
import { type ErrorKind, type LoadResult, type Measurement, summarizeLoad } from './result.ts'
import { LoopWatch, type Schedule, Tally } from './tally.ts'
import { ResponseTemplate } from './template.ts'

/**
 * Offers load to a server on this machine, or on a private network.
 *
 * In closed loop, each connection sends its next request as soon as it has a response. With a `rate` it is an open loop: requests
 * are sent when they are due, whether or not earlier ones have a response. All connections are opened before the clock starts.
 * Requests are counted if they are due between the end of the warm-up and the end of the load. The load then waits up to `timeoutMs`
 * for missing responses.
 * @throws {LoadError} if the requests cannot be sent, the target is out of reach, or too few files may be open
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  return summarizeLoad([await measureLoad(options)])
}

/** Offers a load, or one generator's part of it. @throws {LoadError} as `runLoad` */
export async function measureLoad(options: LoadOptions): Promise<Measurement> {
  return new Load({ ...options, target: await resolveTarget(options.target) }).run()
}

/** One load, from its first connection to its last response. */
class Load implements ConnectionOwner {
  readonly #options: LoadOptions
  readonly #requests: Requests
  readonly #timeoutMs: number
  readonly #warmupMs: number
  readonly #checker: Checker
  readonly #tally: Tally
  readonly #pool: Pool
  readonly #watch = new LoopWatch()
  readonly #ending = Promise.withResolvers<Measurement>()
  readonly #schedule: Schedule = { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
  #sweeper: NodeJS.Timeout | undefined
  #loop: Loop | undefined
  #isOver = false
  #isCounting = false
  #inFlight = 0

  constructor(options: LoadOptions) {
    const { target, method = 'GET', connections, newConnections: fresh = false } = options
    this.#options = options
    // A generator of its own, so that arrivals and paths do not depend on each other.
    this.#requests = new Requests(options, createRandom((options.seed ?? 1) ^ 0x5bd1e995))
    this.#timeoutMs = options.timeoutMs ?? 5_000
    this.#warmupMs = options.warmupMs ?? 0
    this.#checker = new Checker(
      options.expect ?? {},
      this.#requests.paths,
      createRandom((options.seed ?? 1) ^ 0x27d4eb2f),
    )
    this.#tally = new Tally(this.#checker, this.#schedule, options.rate !== undefined)
    this.#pool = new Pool({ target, method, template: new ResponseTemplate(), connections, fresh }, this)
  }

  /** @throws {LoadError} if too few files may be open */
  run(): Promise<Measurement> {
    const { signal } = this.#options
    const abort = () => this.#abort()
    signal?.addEventListener('abort', abort, { once: true })
    // Attempts to connect that fail count as errors.
    if (this.#warmupMs === 0) this.#schedule.from = performance.now()
    // A coarse sweep costs nothing; a timer per request would.
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(100, Math.max(1, this.#timeoutMs / 10)))
    if (signal?.aborted) abort()
    else this.#pool.open(() => this.#opened())
    return this.#ending.promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  opened(connection: Connection): void {
    const { handshake } = connection
    const { handshakes } = this.#tally.counts
    if (handshake !== undefined) handshakes[handshake] = (handshakes[handshake] ?? 0) + 1
    this.#pool.opened(connection)
    this.#vacant()
  }

  responded(connection: Connection, now: number): void {
    this.#inFlight--
    this.#watch.events++
    this.#tally.responded(connection, now)
    if (connection.parser.reusable && !this.#requests.close) this.#loop?.freed(connection, now)
    else this.#pool.lost(connection, false, this.#vacant)
  }

  failed(connection: Connection, kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void {
    if (error?.code === 'EMFILE' || error?.code === 'ENFILE') {
      this.#close()
      const { connections } = this.#options
      const sentence = `This process may not open enough files for ${connections} connections: use fewer, or raise the limit (ulimit -n).`
      return void this.#ending.reject(new LoadError(sentence))
    }
    const { awaiting, intended, since, parser, received } = connection
    if (awaiting) this.#inFlight--
    if (kind !== undefined)
      this.#tally.failed(kind, awaiting ? intended : since, parser.started ? received : 0)
    this.#pool.lost(connection, kind === 'connect', this.#vacant)
  }

  /** A request that waits may find a connection. */
  readonly #vacant = (): void => this.#loop?.dispatch(performance.now())

  readonly #send = (connection: Connection, intended: number, now: number): void => {
    this.#inFlight++
    this.#watch.events++
    this.#tally.sent(intended, now)
    const path = this.#requests.draw()
    connection.send(this.#requests.bytes(path), intended, now, path, this.#checker.sample())
  }

  /** Nothing before counts: neither the generator's CPU nor the time. */
  async #opened(): Promise<void> {
    await this.#options.onPhase?.('open')
    if (this.#isOver) return
    const start = performance.now()
    const { durationMs, rate, seed = 1 } = this.#options
    this.#schedule.from = start + this.#warmupMs
    this.#schedule.until = this.#schedule.from + durationMs
    const means = { pool: this.#pool, schedule: this.#schedule, send: this.#send, tally: this.#tally }
    this.#loop =
      rate === undefined ? closedLoop(means) : openLoop(means, poisson(rate, createRandom(seed), start))
    this.#turn()
  }

  /**
   * One turn of the polling loop. A chain of `setImmediate` keeps the event loop from sleeping: timers are late by up to a
   * millisecond, and a generator that sleeps makes servers look more expensive.
   */
  readonly #turn = (): void => {
    if (this.#loop === undefined) return
    const now = performance.now()
    if (!this.#isCounting && now >= this.#schedule.from) {
      this.#isCounting = true
      this.#watch.begin(now)
      if (this.#warmupMs > 0) this.#checker.restart()
    }
    this.#watch.turn(now)
    this.#loop.dispatch(now)
    if (this.#loop.isOver(now)) {
      this.#pool.isWanted = false
      if (this.#inFlight === 0) return void this.#drained()
    }
    if (!this.#isOver) setImmediate(this.#turn)
  }

  async #drained(): Promise<void> {
    const measurement = this.#tally.measurement(this.#watch)
    if (!this.#isOver) await this.#options.onPhase?.('responded')
    this.#finish(measurement)
  }

  #finish(measurement: Measurement): void {
    if (this.#isOver) return
    this.#close()
    this.#ending.resolve(measurement)
  }

  #abort(): void {
    this.#schedule.until = Math.min(this.#schedule.until, performance.now())
    this.#finish(this.#tally.measurement(this.#watch))
  }

  #close(): void {
    this.#isOver = true
    clearInterval(this.#sweeper)
    this.#pool.close()
  }

  #sweep(): void {
    const now = performance.now()
    const late = now - this.#timeoutMs
    for (const connection of this.#pool.waitingSince(late)) {
      const kind = connection.connecting ? 'connect' : 'timeout'
      connection.close()
      this.failed(connection, kind)
    }
    this.#loop?.expire(late)
  }
}
