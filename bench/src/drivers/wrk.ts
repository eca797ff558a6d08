import { type ChildProcess, type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
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
  readonly capabilities: Capabilities = { minSliceMs: 500, warmupMs: 0 }
  #child: ChildProcess | undefined

  pids(): number[] {
    return []
  }

  async run(plan: SlicePlan): Promise<SliceLoad> {
    const [program, ...args] = pinned(wrkCommand(plan), this.cpu)
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    const { output, waited } = await runWrk(child, plan)
    const { cpuSeconds, errors, ...load } = parseWrk(output, plan.connections)
    const generator = { cpuSeconds, waitSeconds: waited }
    return { ...load, rate: rateOf(load), checked: 0, errors: occurred(errors), generator }
  }

  override async stop(): Promise<void> {
    this.#child?.kill('SIGKILL')
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

/**
 * Interrupts wrk when the time of its load is over, and waits for its end.
 * @returns what it printed, and how long its threads waited until then; null where the system does not tell
 * @throws {LoadError} if it cannot be started, or did not run to its end
 */
async function runWrk(
  child: ChildProcessByStdio<null, Readable, Readable>,
  { durationMs, signal }: Pick<SlicePlan, 'durationMs' | 'signal'>,
): Promise<{ output: string; waited: number | null }> {
  const timers: NodeJS.Timeout[] = []
  let waited: number | null = null
  let output = ''
  const interruptAfter = (milliseconds: number): void => {
    timers.push(setTimeout(interrupt, milliseconds))
  }
  const interrupt = () => {
    // It prints its result when it ends, and a second interruption could cut that.
    if (child.pid === undefined || output !== READY) return
    waited ??= waitSeconds([child.pid]) ?? null
    child.kill('SIGINT')
    interruptAfter(AGAIN_MS)
  }
  const abort = () => interruptAfter(SETTLE_MS)
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    if (output !== READY) return
    interruptAfter(durationMs)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
  })
  try {
    const [complaints, [code, by]] = await Promise.all([text(child.stderr), once(child, 'close')])
    if (code === 0) return { output, waited }
    const [reason] = complaints.split('\n')
    throw new LoadError(`wrk failed: ${reason || `it ended with ${by ?? `exit code ${code}`}`}.`)
  } catch (error) {
    if (error instanceof LoadError) throw error
    throw new LoadError(`wrk cannot be started: ${(error as Error).message}.`)
  } finally {
    for (const timer of timers) clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** The first thing that wrk.lua says: the load begins. */
const READY = 'ready\n'

/** @throws {LoadError} if it is not installed, with the command that helps */
export function wrkVersion(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // It prints its version and its usage, and exits with 1.
  execFile('wrk', ['-v'], (_error, output) => {
    const version = /^wrk (\S+)/.exec(output)?.[1]
    if (version !== undefined) resolve(version)
    else reject(new LoadError(`wrk is not installed: ${HELP}.`))
  })
  return promise
}

const HELP = process.platform === 'darwin' ? 'brew install wrk' : 'sudo apt-get install wrk (Debian, Ubuntu)'

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
