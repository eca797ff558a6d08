import type { Role } from '@startgrid/grid/apps.ts'
import type { Cell } from '../model/cell.ts'
import type { Span } from '../model/settings.ts'
import { appOf } from './cells.ts'
import type { ProfileName } from './profiles.ts'

/** How much effort the open-loop commands take, and how long that lasts. Times are in milliseconds. */

/** Samples beyond a percentile, over all launches, below which it is not printed. */
export const BEYOND = 100

/** Launches below which no percentile is printed. */
export const LEAST_LAUNCHES = 3

export interface CapacityEffort {
  /** The first one searches, the others confirm. */
  launches: number
  step: Span
  searchSteps: number
  confirmSteps: number
}

export const CAPACITY_EFFORT: Readonly<Record<ProfileName, CapacityEffort>> = {
  quick: { launches: 2, step: { minMs: 500, maxMs: 1000 }, searchSteps: 9, confirmSteps: 6 },
  default: { launches: 4, step: { minMs: 1500, maxMs: 4000 }, searchSteps: 12, confirmSteps: 8 },
  thorough: { launches: 7, step: { minMs: 5000, maxMs: 20_000 }, searchSteps: 16, confirmSteps: 12 },
}

export interface LatencyEffort {
  launches: number
  level: Span
  /** The highest percentile for which a level is long enough, if the rate allows. */
  percentile: number
  /** Whether all cells of a role are also compared at one rate. */
  common: boolean
}

export const LATENCY_EFFORT: Readonly<Record<ProfileName, LatencyEffort>> = {
  quick: { launches: 3, level: { minMs: 600, maxMs: 1500 }, percentile: 99, common: false },
  default: { launches: 3, level: { minMs: 1000, maxMs: 3000 }, percentile: 99, common: true },
  thorough: { launches: 6, level: { minMs: 3000, maxMs: 20_000 }, percentile: 99.9, common: true },
}

export interface OverloadEffort {
  launches: number
  /** At half the capacity, before the overload. */
  before: Span
  overloadMs: number
  /** One stretch of recovery; another follows until p99 is back. */
  recoveryMs: number
  recoveries: number
}

export const OVERLOAD_EFFORT: Readonly<Record<ProfileName, OverloadEffort>> = {
  quick: {
    launches: 2,
    before: { minMs: 800, maxMs: 1500 },
    overloadMs: 1000,
    recoveryMs: 1000,
    recoveries: 2,
  },
  default: {
    launches: 3,
    before: { minMs: 1500, maxMs: 3000 },
    overloadMs: 2000,
    recoveryMs: 1000,
    recoveries: 5,
  },
  thorough: {
    launches: 6,
    before: { minMs: 3000, maxMs: 10_000 },
    overloadMs: 5000,
    recoveryMs: 2000,
    recoveries: 10,
  },
}

/**
 * How many connections an overload takes: as many as an app handles requests in a second, 1,000 to 4,000. The queue is then in the app, where it
 * can be longer than its limit (`MAX_QUEUE_WAIT_MS`, 250 ms). What arrives while all are busy waits in the generator.
 * @param capacity requests per second
 */
export function overloadConnections(capacity: number): number {
  return Math.round(Math.min(4000, Math.max(1000, capacity)))
}

/**
 * How long a load must last so that a percentile may be printed; a tenth more, because arrivals are random.
 * @param rate requests per second, above 0
 * @param share of the samples that this load contributes: 1 / launches if they are pooled
 */
export function durationFor(percentile: number, rate: number, share: number, { minMs, maxMs }: Span): number {
  const samples = (1.1 * BEYOND * share) / (1 - percentile / 100)
  return Math.round(Math.min(maxMs, Math.max(minMs, (samples / rate) * 1000)))
}

/** The part of the samples behind a percentile that one launch contributes. */
export function shareOf(launches: number): number {
  return 1 / Math.max(launches, LEAST_LAUNCHES)
}

/** A closed-loop load that finds the capacity: at least 8 responses per connection, for it fills and drains once. */
export function capacityMs(rate: number, { connections }: Pick<Cell, 'connections'>): number {
  return Math.round(Math.min(3000, Math.max(300, (8 * connections * 1000) / rate)))
}

/** Starting, asking for the first response and stopping. */
const LAUNCH_MS = 700

/** Opening connections and draining, per load. */
const LOAD_MS = 40

/** Requests per second that plans count with, before anything is measured: rates of two shared cores. */
const ASSUMED_RATE: Readonly<Record<Role, number>> = { hello: 40_000, ssr: 3000, status: 40_000 }
const ASSUMED_NGINX_PAGES = 200

export function assumedRate(cell: Pick<Cell, 'role' | 'app' | 'twinOf'>): number {
  const { role } = cell
  return role === 'ssr' && appOf(cell).runtime === 'nginx'
    ? ASSUMED_NGINX_PAGES
    : ASSUMED_RATE[role ?? 'hello']
}

type Warmed = Pick<Cell, 'role' | 'app' | 'twinOf' | 'warmupMs' | 'warmupRequests'>

/** What one launch takes, with these loads beside its warm-up. A slow machine warms up for up to twice the time. */
export function launchMs(cell: Warmed, loads: readonly number[]): number {
  const { warmupMs, warmupRequests } = cell
  const requestsMs = (warmupRequests / assumedRate(cell)) * 1000
  const warmMs = Math.min(2 * warmupMs, Math.max(warmupMs, requestsMs))
  return loads.reduce((sum, duration) => sum + duration + LOAD_MS, LAUNCH_MS + warmMs + LOAD_MS)
}

/** Levels as parts of the cell's own capacity. */
export const OWN_LEVELS: ReadonlyMap<string, number> = new Map([
  ['25 %', 0.25],
  ['50 %', 0.5],
  ['75 %', 0.75],
])

export const COMMON = 'common'

/** The common rate, as a part of what the slowest cell can do. */
const COMMON_PART = 0.5

/** Nearer to its capacity than this, a cell is not asked for the common rate: a queue would grow at the slightest dip. */
export const MOST_PART = 0.9

/**
 * One rate for everybody who is compared: half of what the slowest can do.
 * @param capacities responses per second in closed loop
 * @param least a rate below this is nobody's: it does not count
 * @returns requests per second, in whole tens; null if no capacity counts
 */
export function commonRate(capacities: readonly number[], least = 0): number | null {
  const rates = capacities
    .map((capacity) => capacity * COMMON_PART)
    .filter((rate) => rate > 0 && rate >= least)
  return rates.length > 0 ? Math.max(10, Math.round(Math.min(...rates) / 10) * 10) : null
}
