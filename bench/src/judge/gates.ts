import { formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import { quantile } from '@startgrid/stats/moments.ts'
import type { Cell, ConformanceRecord } from '../result/cell.ts'
import type { Slice, Trial } from '../result/heat.ts'
import type { Result } from '../result/result.ts'
import type { Settings } from '../result/settings.ts'
import { worstPart } from './disturbance.ts'
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
  return whyNotEqual(evidence) ?? whyFailed(evidence) ?? whyWrong(evidence) ?? whyNotBound(evidence)
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
function whyFailed({ slices, failures: [failure] }: Evidence): string | null {
  if (failure !== undefined) return failure
  const counts = new Map<string, number>()
  for (const [kind, count] of slices.flatMap(({ errors }) => Object.entries(errors)))
    if (kind !== 'body' && count > 0) counts.set(kind, (counts.get(kind) ?? 0) + count)
  const responses = slices.reduce((sum, { requests }) => sum + requests, 0)
  if (counts.size === 0) return responses === 0 && slices.length > 0 ? 'no request got a response' : null
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const kinds = [...counts].map(([kind, count]) => `${formatCount(count)} ${kind}`)
  return `${formatCount(total)} requests failed beside ${formatCount(responses)} responses: ${listOf(kinds)}`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** The content of responses was compared during the load, and all of them were right. */
function whyWrong({ slices }: Evidence): string | null {
  const wrong = slices.reduce((sum, { errors }) => sum + (errors.body ?? 0), 0)
  if (wrong > 0) return `${formatCount(wrong)} responses had another body than expected`
  const isCompared = slices.length === 0 || slices.some(({ checked }) => checked > 0)
  return isCompared ? null : 'no response was compared'
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
  const use = coreUse(
    cell,
    counted.filter(({ disturbed }) => !disturbed),
  )
  if (use === null || use >= BOUND) return null
  const [who, whose] = cell.topology === 'direct' ? ['the server', 'its'] : ['server and proxy', 'their']
  return `${who} used ${formatPercent(use)} of ${whose} ${cell.cores.given > 1 ? 'cores' : 'core'}`
}

/** 0 to 1, in the busiest quarter of slices; null if it is not known of every slice, or there is none. */
function coreUse(cell: Cell, slices: readonly Slice[]): number | null {
  const uses = slices.map(({ cpuSeconds, disturbance, seconds }) => {
    const used = serverSeconds(cell, cpuSeconds)
    // Who took the core is in several accounts. A generator that waits offers nothing meanwhile.
    return used === null ? null : used / (seconds * (cell.cores.given - worstPart(disturbance)))
  })
  if (uses.length === 0 || uses.includes(null)) return null
  return Math.min(
    1,
    quantile(
      uses.filter((use) => use !== null),
      BUSIEST,
    ),
  )
}

/** How far the rate of responses may be from the offered one. */
const OFFERED_WITHIN = 0.01

/** Milliseconds that one request in a hundred may be sent late. */
const LAG_P99_MS = 1

/** A stretch of open-loop load. */
export type OfferedLoad = Pick<Trial, 'offered' | 'achieved' | 'lag' | 'generatorBound'>

/**
 * What an open loop was to offer was really offered, got its responses, and was on time. `offered` is what was due by the drawn arrivals, not the
 * nominal rate, from which a Poisson process differs by chance. A clause; null if all was so.
 */
export function whyNotOffered({ offered, achieved, lag, generatorBound }: OfferedLoad): string | null {
  const rates = `${formatRate(achieved)} of ${formatRate(offered)} requests per second got a response`
  if (generatorBound) return `${rates}: the generator could not offer them`
  if (Math.abs(achieved - offered) > offered * OFFERED_WITHIN) return rates
  if (lag === null || lag.p99 <= LAG_P99_MS) return null
  return `${rates}, 99 % were sent at most ${lag.p99.toFixed(2)} ms late`
}
