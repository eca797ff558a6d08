import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type ErrorCounts, LoadError } from '@startgrid/loadgen'
import { waitSeconds } from '@startgrid/machine/processes.ts'
import {
  type Capabilities,
  type Driver,
  type LatencySeconds,
  occurred,
  rateOf,
  type SliceLoad,
  type SlicePlan,
  urlFor,
} from './driver.ts'
import { ForeignDriver, pinned } from './foreign-driver.ts'

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url))

/**
 * wrk (https://github.com/wg/wrk): one thread, a process per load. It can be told whole seconds only, but an interruption ends it with all
 * that it measured, at the next tenth of a second: so it is given more time than the slice has, and interrupted.
 *
 * It drops the requests in flight at the end, which is why a slice must be long; and a request that never gets a response shows
 * nowhere but in Little's law.
 */
export class WrkDriver extends ForeignDriver implements Driver {
  readonly name = 'wrk'
  readonly capabilities: Capabilities = {
    openLoop: false,
    unixSockets: false,
    checks: 'before',
    minSliceMs: 500,
    warmupMs: 0,
  }
  #running: WrkProcess | undefined

  pids(): number[] {
    return []
  }

  async run(plan: SlicePlan): Promise<SliceLoad> {
    const wrk = new WrkProcess(pinned(wrkCommand(plan), this.cpu), plan)
    this.#running = wrk
    const output = await wrk.output()
    const { requests, seconds, cpuSeconds, errors, latencySeconds } = parseWrk(output, plan.connections)
    return {
      requests,
      seconds,
      rate: rateOf({ requests, seconds }),
      checked: 0,
      errors: occurred(errors),
      latencySeconds,
      generator: { cpuSeconds, waitSeconds: wrk.waitSeconds },
    }
  }

  override async stop(): Promise<void> {
    this.#running?.kill()
    await super.stop()
  }
}

function wrkCommand(plan: SlicePlan): [string, ...string[]] {
  const { connections, durationMs, timeoutMs = 5000 } = plan
  const seconds = Math.ceil(durationMs / 1000) + 1
  const timeout = Math.ceil(timeoutMs / 1000)
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', `${timeout}s`, '-s', SCRIPT]
  return ['wrk', ...options, urlFor('wrk', plan)]
}

/** wrk ignores an interruption until its threads run, moments after it said that it is ready. */
const SETTLE_MS = 100

/** On a busy machine its threads may not run yet. Then the interruption is lost, and wrk would go on to the end of its own time. */
const AGAIN_MS = 2_000

/** One run of wrk with wrk.lua, which is interrupted when its time is over. */
export class WrkProcess {
  /** Of all threads, up to its interruption; null before it, and where the system does not tell. */
  waitSeconds: number | null = null
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #timing: Pick<SlicePlan, 'durationMs' | 'signal'>
  readonly #timers: NodeJS.Timeout[] = []
  #isPrinting = false

  constructor(
    [program, ...args]: readonly [string, ...string[]],
    timing: Pick<SlicePlan, 'durationMs' | 'signal'>,
  ) {
    this.#timing = timing
    this.#child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    // The first thing that the script says: the load begins.
    this.#child.stdout.once('data', () => {
      this.#began()
      this.#child.stdout.once('data', () => {
        this.#isPrinting = true
      })
    })
  }

  /**
   * Waits for its end.
   * @returns what it printed
   * @throws {LoadError} if it cannot be started, or did not run to its end
   */
  async output(): Promise<string> {
    const [output, complaints] = [collect(this.#child.stdout), collect(this.#child.stderr)]
    try {
      const [code, signal] = await once(this.#child, 'close')
      if (code === 0) return output()
      const [reason] = complaints().split('\n')
      throw new LoadError(`wrk failed: ${reason || `it ended with ${signal ?? `exit code ${code}`}`}.`)
    } catch (error) {
      if (error instanceof LoadError) throw error
      throw new LoadError(`wrk cannot be started: ${(error as Error).message}.`)
    } finally {
      for (const timer of this.#timers) clearTimeout(timer)
      this.#timing.signal?.removeEventListener('abort', this.#abort)
    }
  }

  /** Ends it at once, without a result. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #began(): void {
    const { durationMs, signal } = this.#timing
    this.#interruptAfter(durationMs)
    if (signal?.aborted) this.#abort()
    signal?.addEventListener('abort', this.#abort, { once: true })
  }

  readonly #abort = (): void => this.#interruptAfter(SETTLE_MS)

  #interruptAfter(milliseconds: number): void {
    this.#timers.push(setTimeout(() => this.#interrupt(), milliseconds))
  }

  #interrupt(): void {
    const { pid } = this.#child
    // It prints its result when it ends, and a second interruption could cut that.
    if (pid === undefined || this.#isPrinting) return
    this.waitSeconds ??= waitSeconds([pid]) ?? null
    this.#child.kill('SIGINT')
    this.#interruptAfter(AGAIN_MS)
  }
}

function collect(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}

/** @throws {LoadError} if it is not installed, with the command that helps */
export function wrkVersion(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // It prints its version and its usage, and exits with 1.
  execFile('wrk', ['-v'], (_error, output) => {
    const version = /^wrk (\S+)/.exec(output)?.[1]
    if (version !== undefined) resolve(version)
    else reject(new LoadError(`wrk is not installed: ${helpfulCommand()}.`))
  })
  return promise
}

function helpfulCommand(): string {
  return process.platform === 'darwin' ? 'brew install wrk' : 'sudo apt-get install wrk (Debian, Ubuntu)'
}

/** What one run of wrk measured. */
interface WrkReport {
  requests: number
  seconds: number
  cpuSeconds: number
  errors: Partial<ErrorCounts>
  latencySeconds: LatencySeconds
}

/** A latency in microseconds, and how many responses had it; in rising order. */
export type Bucket = readonly [microseconds: number, count: number]

/** As wrk.lua writes it. */
interface Written {
  microseconds: number
  requests: number
  cpuSeconds: number
  /** `read` includes connections that the server closed; `status` is above 399; `timeout` counts late responses, not missing ones. */
  errors: Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>
  latency: Bucket[]
}

/**
 * Reads the line of wrk.lua from what wrk printed.
 * @throws {LoadError} if it is not there
 */
export function parseWrk(output: string, connections: number): WrkReport {
  const line = /^\{.*\}$/m.exec(output)?.[0]
  if (line === undefined) throw new LoadError('wrk ended without a result.')
  const { microseconds, requests, cpuSeconds, errors, latency } = JSON.parse(line) as Written
  const { connect, read, write, status, timeout } = errors
  return {
    requests,
    seconds: microseconds / 1e6,
    cpuSeconds,
    errors: { connect, reset: read + write, timeout, status },
    latencySeconds: summarise(undoCorrection(latency, { microseconds, requests, connections })),
  }
}

/**
 * Takes out what wrk adds to the latencies that it measured. For each of at least twice the mean interval between the responses of a
 * connection, it adds latencies that are one, two, three … intervals shorter, down to one interval (`stats_correct` in its stats.c):
 * a guess at what an open loop would have met. Adding begins with the shortest, so none is made from added ones, and what was at
 * a latency is what is there now less what is now one interval further on. Without this, rate × mean latency can be three times
 * the number of connections.
 */
export function undoCorrection(
  buckets: readonly Bucket[],
  { microseconds, requests, connections }: { microseconds: number; requests: number; connections: number },
): Bucket[] {
  // With fewer responses than connections wrk adds nothing: the interval is infinite.
  const interval = Math.floor(microseconds / Math.floor(requests / connections))
  const counts = new Map(buckets)
  return buckets
    .map(
      ([value, count]): Bucket => [
        value,
        value > interval ? count - (counts.get(value + interval) ?? 0) : count,
      ],
    )
    .filter(([, count]) => count > 0)
}

function summarise(buckets: readonly Bucket[]): LatencySeconds {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return { mean: 0, p50: 0, p99: 0 }
  const sum = buckets.reduce((all, [value, count]) => all + value * count, 0)
  return { mean: sum / total / 1e6, p50: percentile(buckets, total, 50), p99: percentile(buckets, total, 99) }
}

/** Nearest rank: the smallest latency that at least this part of the responses do not exceed. In seconds. */
function percentile(buckets: readonly Bucket[], total: number, percent: number): number {
  let seen = 0
  for (const [value, count] of buckets) {
    seen += count
    if (seen >= (total * percent) / 100) return value / 1e6
  }
  return 0
}
