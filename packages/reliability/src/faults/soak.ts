import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@startgrid/cli/until.ts'
import { type Connection, openConnection } from '@startgrid/conformance/http/connection.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { type ClientAbort, leave } from '../clients/client-abort.ts'
import { abortsOf, type Step, stepsOf } from '../clients/mix.ts'
import type { Fault } from '../fault.ts'
import { countFiles, type Footprint, footprintOf, measurable } from '../subject/footprint.ts'

/** Milliseconds of load before the first look, and between two looks. */
const PACE = {
  short: { warmUpMs: 3_000, intervalMs: 600, looks: 10 },
  full: { warmUpMs: 60_000, intervalMs: 27_000, looks: 20 },
} as const

const CLIENTS = 3
/** Between two rounds of a client, in milliseconds. */
const PAUSE_MS = 20
const PATIENCE = { timeoutMs: 30_000 }

/** What memory may grow by from the second fifth of the looks to the last, in bytes. */
const GROWTH = { short: 3_000_000, full: 5_000_000 } as const

/** A long run with all kinds of requests, in short: an app releases the resources of each request. */
export const soak: Fault = {
  name: 'soak',
  title: '10 minutes of mixed load',
  expected: 'right responses, no growth of memory or open files beyond a bound',
  // Memory is not disturbed by neighbours.
  atOnce: 21,
  async run(subject) {
    const { app, size } = subject
    const { warmUpMs, intervalMs, looks } = PACE[size]
    // All apps start at once.
    const launched = await subject.launch({ env: NEVER_SHED, timeoutMs: 120_000, ...measurable(app) })
    const idle = countFiles(launched)
    const load = new MixedLoad(app, launched.target)
    await load.run(warmUpMs, subject.signal)
    const footprints: Footprint[] = []
    for (let look = 0; look < looks; look++) {
      await load.run(intervalMs, subject.signal)
      await until('files or sockets stay open', () => (countFiles(launched) ?? 0) <= (idle ?? 0))
      footprints.push(await footprintOf(app, launched))
    }
    const growth = growthOf(footprints.map(({ memory }) => memory))
    const findings = [...load.findings]
    if (growth > GROWTH[size])
      findings.push(
        `Memory grew by ${toKb(growth)} kB from the second fifth of the time to the last, in ${load.requests} requests; ` +
          `${toKb(GROWTH[size])} are allowed.`,
      )
    return { findings, figures: { requests: load.requests, 'growth, kB': toKb(growth) } }
  },
}

/** Everything that an app can be asked for, by clients one after the other. */
class MixedLoad {
  requests = 0
  readonly #steps: readonly Step[]
  readonly #aborts: readonly ClientAbort[]
  readonly #target: Target
  readonly #wrong = new Map<string, number>()

  constructor({ role, absent }: App, target: Target) {
    const canStream = !absent.includes('stream')
    this.#steps = stepsOf(role, canStream)
    this.#aborts = abortsOf(role, canStream)
    this.#target = target
  }

  /** Wrong responses, and how often they came. */
  get findings(): string[] {
    return [...this.#wrong].map(([what, times]) => `${what} (${times} times)`)
  }

  /** Closes all connections at the end. */
  async run(ms: number, signal: AbortSignal): Promise<void> {
    const end = Date.now() + ms
    const client = async (): Promise<void> => {
      while (Date.now() < end && !signal.aborted) await this.#round()
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
  }

  /** All steps on connections that last until the server closes them; then some who leave. */
  async #round(): Promise<void> {
    let connection: Connection | undefined
    for (const step of this.#steps) {
      connection ??= await openConnection(this.#target, PATIENCE)
      if (!(await this.#take(step, connection))) {
        connection.destroy()
        connection = undefined
      }
    }
    connection?.destroy()
    for (const abort of this.#aborts) await leave(this.#target, abort)
    this.requests += this.#aborts.length
    await sleep(PAUSE_MS)
  }

  /** @returns whether the connection can be used again */
  async #take({ status, orStatus = [], ...request }: Step, connection: Connection): Promise<boolean> {
    const { method = 'GET', target } = request
    this.requests += 1
    try {
      const response = await connection.exchange(request)
      if (response.status !== status && !orStatus.includes(response.status))
        this.#fail(`${method} ${target} got ${response.status}, not ${status}`)
      if (response.faults.length > 0) this.#fail(`${method} ${target}: ${response.faults[0]}`)
      return (
        status !== 413 &&
        !response.headers.some(([name, value]) => name.toLowerCase() === 'connection' && value === 'close')
      )
    } catch (error) {
      // A server that rejects a body may close the connection while the client still sends (RFC 9112 section 9.6).
      if (status !== 413) this.#fail(`${method} ${target}: ${error instanceof Error ? error.message : error}`)
      return false
    }
  }

  #fail(what: string): void {
    this.#wrong.set(what, (this.#wrong.get(what) ?? 0) + 1)
  }
}

/** From the median of the second fifth to that of the last: one look may come amid a lazy compilation, two do not. */
function growthOf(memory: readonly number[]): number {
  const fifth = memory.length / 5
  return median(memory.slice(-fifth)) - median(memory.slice(fifth, 2 * fifth))
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

function toKb(bytes: number): number {
  return Math.round(bytes / 1_000)
}
