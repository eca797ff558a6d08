import { formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { quantile } from '@startgrid/stats/moments.ts'
import type { Slice, Trial } from '../result/heat.ts'
import type { Cell, ConformanceRecord, Result, Settings } from '../result/result.ts'
import { coreUse } from './disturbance.ts'
import { serverSeconds } from './passes.ts'

/** All that the gates look at for one cell of a race: plain data, no figures that depend on how they are combined. */
export interface Evidence {
  cell: Cell
  /** What the contract's suite said; null if it has not been run on this cell. */
  conformance: Pick<ConformanceRecord, 'differences'> | null
  /** All that were measured: warm-up too, and those that others disturbed. */
  slices: readonly Slice[]
  /** Those of them that count. */
  counted: readonly Slice[]
  /** Why it could not go on, in heats where it could not: a clause each, without the full stop. */
  failures: readonly string[]
  /** Null where processes cannot be kept apart. */
  cores: Settings['cores']
  /** Part of this virtual machine's CPU that its host took during the run, as far as its kernel knows. */
  stolen: number
}

/** The first gate that a cell does not pass, as a clause without the full stop: then its number is void. Null if it counts. */
export function whyVoid(evidence: Evidence): string | null {
  const [failure] = evidence.failures
  return whyNotEqual(evidence) ?? failure ?? whySlicesWrong(evidence) ?? whyNotBound(evidence)
}

/** Equal work first: the contract's suite passes on the cell. */
function whyNotEqual({ cell, conformance }: Evidence): string | null {
  if (cell.role === null) return null
  if (conformance === null) return 'the contract was not checked'
  const [first, ...others] = conformance.differences
  if (first === undefined) return null
  const more = others.length > 0 ? `, and ${plural(others.length, 'more difference')}` : ''
  return `it breaks the contract: ${first}${more}`
}

/**
 * A server that drops work is faster. The warm-up counts as well, for an app that says it is ready is; and so do disturbed slices, for a
 * neighbour makes responses late, not wrong.
 */
function whySlicesWrong({ slices }: Evidence): string | null {
  if (slices.length === 0) return null
  const errors: Record<string, number> = {}
  for (const [kind, count] of slices.flatMap((slice) => Object.entries(slice.errors)))
    errors[kind] = (errors[kind] ?? 0) + count
  const sum = (of: 'requests' | 'checked') => slices.reduce((total, slice) => total + slice[of], 0)
  return whyWrong({ errors, requests: sum('requests'), checked: sum('checked'), disturbed: false })
}

/** Cells that could not be run, break the contract or gave wrong responses. */
export function wrongCells({
  conformance,
  heats,
}: Pick<Result, 'conformance' | 'heats'>): ReadonlySet<string> {
  const differ = conformance.filter(({ differences }) => differences.length > 0)
  const failed = heats.flatMap(({ failures }) => failures)
  const wrong = heats.flatMap(({ slices }) => slices.filter(({ errors }) => Object.keys(errors).length > 0))
  return new Set([...differ, ...failed, ...wrong].map(({ cell }) => cell))
}

/** Part of their core that server and proxy must have used. */
const BOUND = 0.95

/**
 * In the busiest quarter of slices. A host that stops the generator's core for 25 ms leaves the servers idle for half a slice,
 * and no account shows it: 12 of 48 cells were void for that, whose median slice used 94 to 102 %.
 */
const BUSIEST = 0.75

/** A host that takes more than this also stops the servers' core. When it took 0.23, 11 of 48 busy cells seemed to use 70 to 95 % of it. */
const STOLEN = 0.05

/**
 * Server and proxy were what limited the rate: they used their core all the time. What the generator used says nothing, for it
 * polls. What others visibly took of the core was not there to be used. What is not known voids nothing.
 */
function whyNotBound({ cell, counted, cores, stolen }: Evidence): string | null {
  if (!cell.serverBound || cores === null || stolen > STOLEN) return null
  const quiet = counted.filter(({ disturbed }) => !disturbed)
  const use = busiestUse(cell, quiet)
  if (use === null || use >= BOUND) return null
  const [who, whose] = cell.topology === 'direct' ? ['the server', 'its'] : ['server and proxy', 'their']
  return `${who} used ${formatPercent(use)} of ${whose} ${cell.cores.given > 1 ? 'cores' : 'core'}`
}

/** 0 to 1, in the busiest quarter of slices; null if it is not known of every slice, or there is none. */
function busiestUse(cell: Cell, slices: readonly Slice[]): number | null {
  // Who took the core is in several accounts. A generator that waits offers nothing meanwhile.
  const uses = slices.map((slice) => {
    const used = serverSeconds(cell, slice.cpuSeconds)
    return used === null ? null : coreUse(used, slice, cell.cores)
  })
  if (uses.length === 0 || uses.includes(null)) return null
  const known = uses.filter((use) => use !== null)
  return Math.min(1, quantile(known, BUSIEST))
}

/** Milliseconds that one request in a hundred may be sent late. */
const LAG_P99_MS = 1

/** Neither others nor a late generator are in its figures. Never asks what was measured of the server. */
export function isTimely({ disturbed, generatorBound, lag }: Trial): boolean {
  return !disturbed && !generatorBound && (lag === null || lag.p99 <= LAG_P99_MS)
}

/** Errors that say no more than that something took too long. */
const LATE_KINDS: ReadonlySet<string> = new Set(['timeout', 'connect'])

/** Errors of responses, which `requests` counts as well. */
const WRONG_KINDS: ReadonlySet<string> = new Set(['status', 'body'])

/**
 * One error or one wrong response voids a number: a clause. A neighbour makes responses late, but not wrong: of a disturbed load, what took too
 * long does not count.
 */
export function whyFailed({
  errors,
  requests,
  disturbed,
}: Pick<Trial, 'errors' | 'requests' | 'disturbed'>): string | null {
  const counts = Object.entries(errors).filter(([kind]) => !disturbed || !LATE_KINDS.has(kind))
  if (counts.length === 0) return null
  const sum = (some: typeof counts) => some.reduce((total, [, count]) => total + count, 0)
  const unanswered = sum(counts.filter(([kind]) => !WRONG_KINDS.has(kind)))
  const kinds = counts.map(([kind, count]) => `${formatCount(count)} ${kind}`)
  return `${formatCount(sum(counts))} of ${formatCount(requests + unanswered)} requests failed (${kinds.join(', ')})`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** Beside that, a load of which nothing was compared proves nothing. */
export function whyWrong(load: Pick<Trial, 'errors' | 'requests' | 'checked' | 'disturbed'>): string | null {
  const failure = whyFailed(load)
  if (failure !== null || load.checked > 0) return failure
  return load.requests === 0 ? 'no request got a response' : 'no response was compared'
}

/** How far the rate of responses may be from what was due by the drawn arrivals. */
const OFFERED_WITHIN = 0.01

/** Its responses fell behind, so a queue grew for as long as the load lasted, and latencies only say for how long that was. */
export function whyNotKept({ offered, achieved }: Trial): string | null {
  if (Math.abs(achieved - offered) <= offered * OFFERED_WITHIN) return null
  return `${formatRate(achieved)} of ${formatRate(offered)} requests per second got a response`
}
