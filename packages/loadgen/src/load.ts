import { Connection, type ConnectionOwner } from './connection.ts'
import { Checker } from './expectation.ts'
import { LoadError } from './load-error.ts'
import { type LoadOptions, type Progress, validatePlan } from './options.ts'
import { asksToClose, requestBytes } from './request.ts'
import type { ErrorKind, LoadResult } from './result.ts'
import { Tally } from './tally.ts'
import { hostHeader, resolveTarget, type Target } from './target.ts'
import { AnswerTemplate } from './template.ts'

/** Milliseconds before a connection that never answered is tried again, so that a dead server is not flooded. */
const BACK_OFF_MS = 10

const PROGRESS_MS = 200

/**
 * Offers closed-loop load: each connection sends its next request as soon as the last one is answered.
 *
 * All connections are opened first, then the clock starts. Requests sent after the warm-up and before the end of the duration
 * are counted; those in flight at the end are waited for, up to `timeoutMs`.
 * @throws {LoadError} if the options are unusable, the target is not on this machine, or too few files may be open
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  validatePlan(options)
  const target = await resolveTarget(options.target)
  const load = new Load(options, target)
  return load.run()
}

/** `opening` until every connection was tried once, then `sending`; `draining` waits for answers in flight. */
type Phase = 'opening' | 'sending' | 'draining' | 'over'

class Load implements ConnectionOwner {
  readonly #options: LoadOptions
  readonly #target: Target
  readonly #method: string
  readonly #request: Buffer
  readonly #closes: boolean
  readonly #timeoutMs: number
  readonly #warmupMs: number
  readonly #checker: Checker
  readonly #tally: Tally
  readonly #template = new AnswerTemplate()
  readonly #connections = new Set<Connection>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #ending = Promise.withResolvers<LoadResult>()
  #phase: Phase = 'opening'
  #untried: number
  #startedAt = 0
  #stoppedAt = 0
  #inFlight = 0

  constructor(options: LoadOptions, target: Target) {
    const { method = 'GET', headers = {}, path, timeoutMs = 5_000, expect = {} } = options
    this.#options = options
    this.#target = target
    this.#method = method
    this.#request = requestBytes({ method, path, headers, host: hostHeader(options.target) })
    this.#closes = asksToClose(headers)
    this.#timeoutMs = timeoutMs
    this.#warmupMs = options.warmupMs ?? 0
    this.#checker = new Checker(expect, method)
    this.#tally = new Tally(timeoutMs)
    this.#untried = options.connections
  }

  run(): Promise<LoadResult> {
    const { signal, connections } = this.#options
    const abort = () => this.#finish(performance.now())
    signal?.addEventListener('abort', abort, { once: true })
    if (this.#warmupMs === 0) this.#tally.begin(performance.now())
    // A coarse sweep costs nothing; a timer per request would.
    this.#repeat(Math.min(100, Math.max(1, this.#timeoutMs / 10)), () => this.#sweep())
    if (signal?.aborted) abort()
    else for (let n = 0; n < connections; n++) this.#open()
    return this.#ending.promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  opened(connection: Connection): void {
    if (this.#phase === 'sending') this.#send(connection, performance.now())
    else if (this.#phase === 'opening') this.#tried()
    else this.#drop(connection)
  }

  answered(connection: Connection, now: number): void {
    this.#inFlight--
    this.#tally.answered(connection, now, this.#checker)
    if (this.#phase !== 'sending') {
      this.#drop(connection)
    } else if (connection.parser.reusable && !this.#closes) {
      this.#send(connection, now)
    } else {
      this.#drop(connection)
      this.#open()
    }
  }

  failed(connection: Connection, kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void {
    if (error?.code === 'EMFILE' || error?.code === 'ENFILE') {
      this.#close()
      this.#ending.reject(tooFewFiles(this.#options.connections))
      return
    }
    this.#connections.delete(connection)
    if (kind !== undefined && kind !== 'connect') this.#inFlight--
    if (kind !== undefined) this.#tally.failed(connection, kind)
    if (this.#phase === 'draining') this.#settle()
    else if (this.#phase === 'sending') this.#reopen(connection)
    else if (kind === 'connect') this.#tried()
  }

  #open(): void {
    this.#connections.add(new Connection(this.#target, this.#method, this.#template, this))
  }

  #reopen(lost: Connection): void {
    if (lost.answers > 0) this.#open()
    else this.#after(BACK_OFF_MS, () => this.#open())
  }

  #drop(connection: Connection): void {
    this.#connections.delete(connection)
    connection.close()
    if (this.#phase === 'draining') this.#settle()
  }

  #send(connection: Connection, now: number): void {
    this.#inFlight++
    this.#tally.sent(now)
    connection.send(this.#request, now, this.#checker.sample())
  }

  /** One of the first connections is open or failed to open. */
  #tried(): void {
    if (--this.#untried === 0) this.#start()
  }

  #start(): void {
    this.#phase = 'sending'
    this.#startedAt = performance.now()
    const { connections, durationMs, onProgress } = this.#options
    if (this.#warmupMs > 0) this.#after(this.#warmupMs, () => this.#count())
    this.#after(this.#warmupMs + durationMs, () => this.#stop())
    if (onProgress !== undefined) this.#repeat(PROGRESS_MS, () => onProgress(this.#progress()))
    const missing = connections - this.#connections.size
    for (const connection of this.#connections) this.#send(connection, performance.now())
    for (let n = 0; n < missing; n++) this.#after(BACK_OFF_MS, () => this.#open())
  }

  /** The warm-up is over. */
  #count(): void {
    this.#checker.restart()
    this.#tally.begin(performance.now())
  }

  /** The duration is over. */
  #stop(): void {
    this.#phase = 'draining'
    this.#stoppedAt = performance.now()
    for (const connection of [...this.#connections].filter(({ waiting }) => !waiting)) this.#drop(connection)
    this.#settle()
  }

  #settle(): void {
    if (this.#phase === 'draining' && this.#inFlight === 0) this.#finish(this.#stoppedAt)
  }

  /** @param notBefore the earliest end of the measured stretch; a later drained answer moves it */
  #finish(notBefore: number): void {
    if (this.#phase === 'over') return
    this.#close()
    this.#ending.resolve(this.#tally.result(notBefore))
  }

  #close(): void {
    this.#phase = 'over'
    for (const timer of this.#timers) clearTimeout(timer)
    for (const connection of this.#connections) connection.close()
    this.#connections.clear()
  }

  #sweep(): void {
    const late = performance.now() - this.#timeoutMs
    const overdue = [...this.#connections].filter(({ since, idle }) => !idle && since < late)
    for (const connection of overdue) {
      const kind = connection.waiting ? 'timeout' : 'connect'
      connection.close()
      this.failed(connection, kind)
    }
  }

  #progress(): Progress {
    const elapsed = performance.now() - this.#startedAt
    const done = Math.min(1, elapsed / (this.#warmupMs + this.#options.durationMs))
    return { done, warmingUp: elapsed < this.#warmupMs, ...this.#tally.progress() }
  }

  #after(milliseconds: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      action()
    }, milliseconds)
    this.#timers.add(timer)
  }

  #repeat(milliseconds: number, action: () => void): void {
    this.#timers.add(setInterval(action, milliseconds))
  }
}

function tooFewFiles(connections: number): LoadError {
  const limit = openFilesLimit()
  const most = limit === undefined ? 'too few open files' : `only ${limit} open files`
  return new LoadError(
    `This process is allowed ${most}, not enough for ${connections} connections: ` +
      'use fewer connections or raise the limit (ulimit -n).',
  )
}

function openFilesLimit(): string | undefined {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: string | number } } }
  return report.userLimits?.open_files?.soft?.toString()
}
