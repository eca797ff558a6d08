import {
  type ErrorCounts,
  type Expectation,
  LoadError,
  type LoadPhase,
  type Target,
} from '@startgrid/loadgen'
import { formatAddress } from '@startgrid/nginx/address.ts'
import type { DriverRecord } from '../model/provenance.ts'

/** What offers the load: Startgrid's own generator, or one that others trust. */
export interface Driver {
  readonly name: DriverRecord['name']
  /** Of the program that sends the requests. */
  readonly version: string
  readonly capabilities: Capabilities
  /** The processes that exist between loads; none if each load has its own. `SliceLoad.generator` has the account of either. */
  pids(): number[]
  /**
   * Compares responses outside the slice, for drivers that cannot do so inside it: a short load by Startgrid's generator on the
   * same core. To be called right before `run`, outside of what is accounted to the slice. Drivers that check inside do nothing.
   * @throws {LoadError} as `run`
   */
  check(plan: SlicePlan): Promise<Checked>
  /**
   * Asks once, from where the load comes from.
   * @returns bytes of the response's body
   * @throws {LoadError} if there is no response with status 200
   */
  responseLength(place: { target: Target; path: string }): Promise<number>
  /**
   * Offers one load. An aborted one ends soon and keeps what was measured.
   * @throws {LoadError} if it cannot be offered: a plan that this driver cannot do, a generator that died. The next one has a new process.
   */
  run(plan: SlicePlan): Promise<SliceLoad>
  /** Ends all processes; resolves when they are gone. */
  stop(): Promise<void>
}

export interface Capabilities {
  /** It calls `onPhase`. */
  phases?: true
  /** Milliseconds: a shorter slice says more about how this driver begins and ends than about the server. */
  minSliceMs: number
  /** Milliseconds of load until its own code is compiled, before its first number counts. */
  warmupMs: number
}

/** One closed-loop load, each connection with one request in flight; Startgrid's generator also offers what a `Workload` may ask for besides. */
export interface SlicePlan {
  target: Target
  /** As it stands in the request line; of several, one is drawn at random for each request. */
  path: string | readonly string[]
  /** Default: a GET without headers of its own and without a body. Foreign drivers know nothing else. */
  method?: string
  headers?: Record<string, string>
  body?: string
  connections: number
  /** As of `Workload`. Foreign drivers know none of them. */
  rate?: number
  newConnections?: boolean
  resume?: boolean
  /** Of random arrivals and paths. */
  seed?: number
  durationMs: number
  /** Allowed to a response; default 5000. Drivers that know whole seconds only round it up. */
  timeoutMs?: number
  expect?: Expectation
  signal?: AbortSignal
  /** Whether percentiles and the rates of seconds are wanted, which take time after the load. */
  details?: boolean
  /** Drivers that cannot tell do not call it: then opening and closing connections is in every account. */
  onPhase?: (phase: LoadPhase) => Promise<void>
}

/** Responses whose content was compared, and what was wrong. */
export interface Checked {
  checked: number
  /** Only kinds that occurred. */
  errors: Partial<ErrorCounts>
}

export interface SliceLoad extends Checked {
  /** Whole responses, whatever their status. */
  requests: number
  /** The time that they took. */
  seconds: number
  /** `requests / seconds`. */
  rate: number
  /** From a request to its response's last byte, without any correction; all 0 if nothing got a response. */
  latencySeconds: LatencySeconds
  /** Of a response with its headers, on average; by a driver that tells, if it is asked for details. So are the next two. */
  bytes?: number
  /** As of `LoadResult`. */
  handshakes?: Readonly<Record<string, number>>
  /** Rates of whole seconds, of a load of three or more. */
  secondRates?: number[]
  generator: GeneratorAccounts
}

export interface LatencySeconds {
  mean: number
  p50: number
  /** Not every driver tells. */
  p975?: number
  p99: number
}

/** Of all the generator's threads, for this load; null where the system does not tell. */
export interface GeneratorAccounts {
  cpuSeconds: number | null
  /** Ready to run, but waiting for a core. */
  waitSeconds: number | null
  /** For how long it polled, that is, never left its core by itself; absent if it sleeps. */
  pollingSeconds?: number
}

/** The rate; 0 instead of a division by zero. */
export function rateOf({ requests, seconds }: Pick<SliceLoad, 'requests' | 'seconds'>): number {
  return seconds > 0 ? requests / seconds : 0
}

/** Without the kinds that did not occur. */
export function occurred<Counts extends Readonly<Record<string, number | undefined>>>(
  errors: Counts,
): { [Kind in keyof Counts]?: number } {
  return Object.fromEntries(Object.entries(errors).filter(([, count = 0]) => count > 0)) as {
    [Kind in keyof Counts]?: number
  }
}

/**
 * The URL for a program that speaks TCP only and asks for one fixed path.
 * @throws {LoadError} if the plan needs more than that
 */
export function urlFor(driver: string, { target, path }: Pick<SlicePlan, 'target' | 'path'>): string {
  if ('socketPath' in target) {
    throw new LoadError(`${driver} cannot use unix sockets: only our own generator can.`)
  }
  if (typeof path !== 'string') throw new LoadError(`${driver} asks for one path only.`)
  if (/[{}]/.test(path)) {
    throw new LoadError(`${driver} cannot draw random paths such as ${path}: only our own generator can.`)
  }
  return `http://${formatAddress(target)}${path}`
}
