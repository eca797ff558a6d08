import { createRandom } from '@startgrid/stats/random.ts'
import { authority, type Target } from '@startgrid/wire/target.ts'
import type { Connection, ConnectionOptions, ConnectionOwner } from '../http/connection.ts'
import { Checker } from '../http/expectation.ts'
import { asksToClose } from '../http/request.ts'
import { ResponseTemplate } from '../http/template.ts'
import type { ErrorKind } from '../report/result.ts'
import { ClosedLoop } from './closed-loop.ts'
import type { Dispatcher, Line, Schedule } from './dispatcher.ts'
import { LoopWatch } from './loop-watch.ts'
import type { Measurement } from './measurement.ts'
import { tooFewFiles } from './open-files.ts'
import { OpenLoop } from './open-loop.ts'
import type { LoadOptions } from './options.ts'
import { poisson } from './poisson.ts'
import { Pool } from './pool.ts'
import { Requests } from './requests.ts'
import { Tally } from './tally.ts'

/** What a wait for 0.05 ms takes on Linux is about 0.1 ms: its timers may be late by as much. */
const PAUSE_MS = 0.05

/** Nobody wakes this. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** One load, from its first connection to its last response. */
export class Load implements ConnectionOwner, Line {
  readonly #options: LoadOptions
  readonly #requests: Requests
  readonly #closes: boolean
  readonly #timeoutMs: number
  readonly #warmupMs: number
  readonly #checker: Checker
  readonly #tally: Tally
  readonly #pool: Pool
  readonly #watch = new LoopWatch()
  #sweeper: NodeJS.Timeout | undefined
  readonly #ending = Promise.withResolvers<Measurement>()
  readonly #schedule: Schedule
  #dispatcher: Dispatcher | undefined
  readonly #handshakes: Record<string, number> = {}
  #isOver = false
  #isCounting = false
  #inFlight = 0
  #eventsBefore = 0

  /**
   * @param options valid ones
   * @param target resolved
   * @param tls as `ConnectionOptions`
   */
  constructor(options: LoadOptions, target: Target, tls: ConnectionOptions['tls']) {
    const { method = 'GET', headers = {}, path, body, expect = {}, newConnections = false } = options
    this.#options = options
    const host = authority(options.target)
    // A generator of its own, so that arrivals and paths do not depend on each other.
    const random = createRandom((options.seed ?? 1) ^ 0x5bd1e995)
    this.#requests = new Requests({ method, path, headers, host, body, close: newConnections }, random)
    this.#closes = newConnections || asksToClose(headers)
    this.#timeoutMs = options.timeoutMs ?? 5_000
    this.#warmupMs = options.warmupMs ?? 0
    this.#checker = new Checker(expect, method, this.#requests.paths)
    this.#tally = new Tally(this.#checker, options.rate !== undefined)
    const { connections } = options
    const template = new ResponseTemplate()
    this.#pool = new Pool({ target, tls, method, template, connections, fresh: newConnections }, this)
    this.#schedule = { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
  }

  /** @throws {LoadError} if too few files may be open */
  run(): Promise<Measurement> {
    const { signal } = this.#options
    const abort = () => this.#abort()
    signal?.addEventListener('abort', abort, { once: true })
    if (this.#warmupMs === 0) this.#tally.begin(performance.now())
    // A coarse sweep costs nothing; a timer per request would.
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(100, Math.max(1, this.#timeoutMs / 10)))
    if (signal?.aborted) abort()
    else this.#pool.open(() => this.#opened())
    return this.#ending.promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  opened(connection: Connection): void {
    const { handshake } = connection
    if (handshake !== undefined) this.#handshakes[handshake] = (this.#handshakes[handshake] ?? 0) + 1
    this.#pool.opened(connection)
    this.#dispatcher?.dispatch(performance.now())
  }

  responded(connection: Connection, now: number): void {
    this.#inFlight--
    this.#watch.events++
    this.#tally.responded(connection, now)
    if (connection.parser.reusable && !this.#closes) {
      this.#dispatcher?.freed(connection, now)
    } else {
      this.#pool.retire(connection)
      this.#dispatcher?.dispatch(now)
    }
  }

  failed(connection: Connection, kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void {
    if (error?.code === 'EMFILE' || error?.code === 'ENFILE') {
      this.#close()
      this.#ending.reject(tooFewFiles(this.#options.connections))
      return
    }
    if (connection.awaiting) this.#inFlight--
    if (kind !== undefined) this.#countLost(connection, kind)
    this.#pool.lost(connection, kind === 'connect', () => this.#dispatcher?.dispatch(performance.now()))
  }

  send(connection: Connection, intended: number, now: number): void {
    this.#inFlight++
    this.#watch.events++
    this.#tally.sent(intended, now, this.#schedule)
    const path = this.#requests.draw()
    connection.send(this.#requests.bytes(path), intended, now, path, this.#checker.sample())
  }

  reached(due: number, now: number): void {
    this.#tally.reached(due, now, this.#schedule)
  }

  #countLost(connection: Connection, kind: ErrorKind): void {
    const since = connection.awaiting ? connection.intended : connection.since
    this.#tally.failed(kind, since)
    if (connection.parser.started) this.#tally.wasted(connection.received, since)
  }

  #opened(): void {
    const { onPhase } = this.#options
    if (onPhase === undefined) this.#start()
    else void onPhase('open').then(() => this.#startCounting())
  }

  /** Nothing before counts: neither the generator's CPU nor the time. */
  #startCounting(): void {
    if (this.#warmupMs === 0) this.#tally.begin(performance.now())
    this.#start()
  }

  #start(): void {
    if (this.#isOver) return
    const start = performance.now()
    const { durationMs, rate, seed = 1 } = this.#options
    const from = start + this.#warmupMs
    Object.assign(this.#schedule, { from, until: from + durationMs })
    const all = { pool: this.#pool, line: this, schedule: this.#schedule }
    this.#dispatcher =
      rate === undefined ? new ClosedLoop(all) : new OpenLoop(all, poisson(rate, createRandom(seed), start))
    this.#turn()
  }

  /**
   * One turn of the polling loop. A chain of `setImmediate` keeps the event loop from sleeping: timers are late by up to a
   * millisecond, and a generator that sleeps makes servers look more expensive.
   */
  readonly #turn = (): void => {
    if (this.#dispatcher === undefined) return
    const now = performance.now()
    if (!this.#isCounting && now >= this.#schedule.from) this.#count(now)
    this.#watch.turn(now)
    this.#dispatcher.dispatch(now)
    const isDraining = this.#dispatcher.over && this.#dispatcher.waiting === 0
    this.#pool.isWanted = !isDraining
    if (isDraining && this.#inFlight === 0) {
      this.#drained()
      return
    }
    if (this.#isOver) return
    const { events } = this.#watch
    if (this.#options.sharesCore && events === this.#eventsBefore) Atomics.wait(NEVER, 0, 0, PAUSE_MS)
    this.#eventsBefore = events
    setImmediate(this.#turn)
  }

  /** The warm-up is over. */
  #count(now: number): void {
    this.#isCounting = true
    this.#watch.begin(now)
    if (this.#warmupMs === 0) return
    this.#checker.restart()
    this.#tally.begin(this.#schedule.from)
  }

  #drained(): void {
    const measurement = this.#measurement()
    const { onPhase } = this.#options
    if (onPhase === undefined || this.#isOver) this.#finish(measurement)
    else void onPhase('responded').then(() => this.#finish(measurement))
  }

  #measurement(): Measurement {
    const measured = this.#tally.measurement(this.#schedule, this.#watch)
    return { ...measured, handshakes: this.#handshakes }
  }

  #finish(measurement: Measurement): void {
    if (this.#isOver) return
    this.#close()
    this.#ending.resolve(measurement)
  }

  #abort(): void {
    this.#schedule.until = Math.min(this.#schedule.until, performance.now())
    this.#finish(this.#measurement())
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
    for (const due of this.#dispatcher?.expired(late) ?? []) this.#tally.failed('timeout', due)
  }
}
