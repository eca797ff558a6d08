import { formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import type { Disturbance } from '@startgrid/machine/accounts/sample.ts'
import { quantile } from '@startgrid/stats/moments.ts'
import type { Cell, ConformanceRecord } from '../model/cell.ts'
import type { GateName, GateResult } from '../model/figures.ts'
import type { Slice, Trial } from '../model/heat.ts'
import type { DriverRecord } from '../model/provenance.ts'
import type { Settings } from '../model/settings.ts'
import { serverSeconds } from './analysis/slices.ts'

/** Before a number of a race is printed, it passes these gates; open loops have `judgeOfferedLoad` besides. */
export function judgeCell(evidence: Evidence): GateResult[] {
  return [
    judgeConformance(evidence),
    judgeErrors(evidence),
    judgeResponses(evidence),
    judgeServerBound(evidence),
    judgeInterference(evidence),
    judgeWarmup(evidence),
    judgeLittlesLaw(evidence),
  ]
}

/** Whether the number may be used: no gate failed. */
export function isVoided(gates: readonly GateResult[]): boolean {
  return gates.some(({ verdict }) => verdict === 'failed')
}

/** What gates ask about a slice. */
export type JudgedSlice = Omit<Slice, 'pass'>

/** What gates ask about a cell. */
export type Judged = Pick<
  Cell,
  'id' | 'app' | 'twinOf' | 'role' | 'topology' | 'connections' | 'warmupMs' | 'serverBound' | 'cores'
>

/** All that the gates may look at for one cell of a race: plain data, no figures that depend on how they are combined. */
export interface Evidence {
  cell: Judged
  /** What the contract's suite said; null if it has not been run on this cell. */
  conformance: Pick<ConformanceRecord, 'checked' | 'differences'> | null
  /** Slices by launch, in the order in which they were measured: warm-up, measurement, those that others disturbed too. */
  launches: readonly (readonly JudgedSlice[])[]
  /** Those of them that count. */
  counted: readonly (readonly JudgedSlice[])[]
  /** Launches of which all slices count, because others disturbed most of them. */
  crowded: number
  /** Its first slices cost more: by this ratio, and whether the later ones were steady. Undefined if they did not, null if nobody tested it. */
  cold: { ratio: number; steady: boolean } | undefined | null
  /** Why it could not go on, in heats where it could not: a clause each, without the full stop. */
  failures: readonly string[]
  driver: DriverRecord
  /** Null where processes cannot be kept apart. */
  cores: Settings['cores']
  /** Part of this virtual machine's CPU that its host took during the run, as far as its kernel knows. */
  stolen: number
}

/** The four ways in which a gate ends. Findings are clauses without the full stop, advice is a sentence. */

export function passed(gate: GateName, finding: string): GateResult {
  return { gate, verdict: 'passed', finding, advice: null }
}

export function failed(gate: GateName, finding: string, advice: string): GateResult {
  return { gate, verdict: 'failed', finding, advice }
}

export function unknown(gate: GateName, finding: string): GateResult {
  return { gate, verdict: 'unknown', finding, advice: null }
}

function notMeant(gate: GateName, finding: string): GateResult {
  return { gate, verdict: 'not meant', finding, advice: null }
}

/** Equal work first: the contract's suite passes on the cell. */
export function judgeConformance({ cell, conformance }: Pick<Evidence, 'cell' | 'conformance'>): GateResult {
  if (cell.role === null) return notMeant('conformance', 'no contract covers it')
  if (conformance === null) {
    return failed('conformance', 'the contract was not checked', 'Let a run come to its end.')
  }
  const { checked, differences } = conformance
  const [first] = differences
  if (first === undefined) return passed('conformance', `${plural(checked, 'check')} of the contract passed`)
  const more = differences.length > 1 ? `, and ${plural(differences.length - 1, 'more difference')}` : ''
  const advice = `Correct ${cell.twinOf ?? cell.app}, then measure again.`
  return failed('conformance', `it breaks the contract: ${first}${more}`, advice)
}

/**
 * No request failed, and nothing else went wrong: a server that drops work is faster. The warm-up counts as well, for an app that
 * says it is ready is; and so do disturbed slices, for a neighbour makes responses late, not wrong. Responses with a wrong body have a gate of
 * their own.
 */
export function judgeErrors({ launches, failures }: Pick<Evidence, 'launches' | 'failures'>): GateResult {
  const [failure] = failures
  if (failure !== undefined) return failed('errors', failure, 'Start the app alone and read what it logs.')
  const slices = launches.flat()
  if (slices.length === 0) return unknown('errors', 'nothing was measured')
  const counts = new Map<string, number>()
  for (const { errors } of slices) {
    for (const [kind, count] of Object.entries(errors))
      if (kind !== 'body' && count > 0) counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  const responses = slices.reduce((sum, { requests }) => sum + requests, 0)
  if (responses === 0 && counts.size === 0)
    return failed('errors', 'no request got a response', 'Start the app alone and read what it logs.')
  if (counts.size === 0) return passed('errors', `none of ${formatCount(responses)} requests failed`)
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const kinds = [...counts].map(([kind, count]) => `${formatCount(count)} ${kind}`)
  const finding = `${formatCount(total)} requests failed beside ${formatCount(responses)} responses: ${listOf(kinds)}`
  if (counts.has('timeout'))
    return failed('errors', finding, 'Offer fewer --connections, or find out what the app waits for.')
  if (counts.has('connect'))
    return failed(
      'errors',
      finding,
      'Offer fewer --connections, and look at the limits of open files (ulimit -n).',
    )
  return failed('errors', finding, 'Read what the app and NGINX log, and correct it.')
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** The content of responses was compared during the load, and all of them were right; a neighbour changes nothing about that. */
export function judgeResponses({ launches }: Pick<Evidence, 'launches'>): GateResult {
  const slices = launches.flat()
  if (slices.length === 0) return unknown('responses', 'nothing was measured')
  const wrong = slices.reduce((sum, { errors }) => sum + (errors.body ?? 0), 0)
  const checked = slices.reduce((sum, slice) => sum + slice.checked, 0)
  if (wrong > 0) {
    const finding = `${formatCount(wrong)} responses had another body than expected`
    return failed('responses', finding, 'Compare a response under load with one of a quiet server.')
  }
  if (checked > 0)
    return passed('responses', `${formatCount(checked)} responses were compared, all were right`)
  return failed('responses', 'no response was compared', 'Measure again.')
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
 * polls. What others visibly took of the core was not there to be used.
 */
export function judgeServerBound(evidence: Evidence): GateResult {
  const { cell, counted, cores, stolen } = evidence
  if (!cell.serverBound) return notMeant('server-bound', 'this cell is not meant to use a whole core')
  const slices = counted.flat().filter(({ disturbed }) => !disturbed)
  const use = coreUse(cell, slices)
  if (cores === null) return unknown('server-bound', 'servers have no core of their own here')
  if (slices.length === 0 && counted.flat().length > 0)
    return unknown('server-bound', 'others took the cores during every slice')
  if (use === null) return unknown('server-bound', 'the CPU that the servers used is not known')
  const who = cell.topology === 'direct' ? 'the server' : 'server and proxy'
  const whose = cell.topology === 'direct' ? 'its' : 'their'
  const finding = `${who} used ${formatPercent(use)} of ${whose} ${cell.cores.given > 1 ? 'cores' : 'core'}`
  if (use < BOUND && stolen > STOLEN)
    return unknown(
      'server-bound',
      `${finding}, but the host took ${formatPercent(stolen)} of this machine's CPU`,
    )
  return use >= BOUND
    ? passed('server-bound', finding)
    : failed(
        'server-bound',
        finding,
        'Offer more --connections; if that does not help, the app waits for something else than its core, or the generator cannot ask for more.',
      )
}

/** 0 to 1, in the busiest quarter of slices; null if it is not known of every slice, or there is none. */
function coreUse(cell: Judged, slices: readonly JudgedSlice[]): number | null {
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

/** Part of the time that others may take, or make us wait for. Less is noise like any other, which passes and launches average out. */
const TAKEN_ABOVE = 0.2

/**
 * Whether others visibly took a stretch of load, so that it does not count. Only what the kernel says of others decides, never what was
 * measured. What it does not say takes nothing.
 */
export function isTaken(disturbance: Disturbance): boolean {
  return isTakenPart(worstPart(disturbance))
}

/** @param part 0 to 1, of the time */
export function isTakenPart(part: number): boolean {
  return part > TAKEN_ABOVE
}

/** What counts: all that others did not take; everything if less than half would remain. */
export function keepQuiet<One>(
  measured: readonly One[],
  isQuiet: (one: One) => boolean,
): { kept: readonly One[]; crowded: boolean } {
  const quiet = measured.filter(isQuiet)
  const crowded = quiet.length < measured.length / 2
  return { kept: crowded ? measured : quiet, crowded }
}

/** What others visibly took of the machine. No cell is void for that: slices are left out, or intervals are wider. */
export function judgeInterference({ launches, crowded }: Pick<Evidence, 'launches' | 'crowded'>): GateResult {
  const measured = launches.map((slices) => slices.filter(({ phase }) => phase === 'measure'))
  const slices = measured.flat()
  if (slices.length === 0) return unknown('interference', 'nothing was measured')
  if (slices.every(({ disturbance }) => Object.values(disturbance).every((part) => part === null)))
    return unknown('interference', 'this system does not say what others used')
  const heats = measured.filter(({ length }) => length > 0).length
  return passed('interference', describeDisturbance(slices, crowded, heats))
}

function describeDisturbance(slices: readonly JudgedSlice[], crowded: number, heats: number): string {
  const disturbed = slices.filter((slice) => slice.disturbed)
  if (disturbed.length === 0) {
    const most = Math.max(...slices.map(({ disturbance }) => worstPart(disturbance)))
    const where = slices.every(isServerUnknown)
      ? ' from the generator; what they took from the server is not known'
      : ''
    return `others took at most ${formatPercent(most)} of any slice${where}`
  }
  const found = `others disturbed ${disturbed.length} of ${plural(slices.length, 'slice')}`
  return crowded === 0 ? found : `${found}; in ${crowded} of ${plural(heats, 'heat')} all slices count`
}

/** Nothing is known of a server elsewhere. */
function isServerUnknown({ disturbance }: JudgedSlice): boolean {
  return disturbance.serverWait === null && disturbance.serverForeign === null
}

function worstPart(disturbance: Disturbance): number {
  return Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
}

/** A slice may end a little early: its clock begins with the first request. */
const SHORTER_BY = 0.05

/**
 * The numbers are those of a warm server. Whether the first slices cost more is tested for all cells of a run together, with an error rate
 * (`findColdCells`). What was cold is left out, and later heats warm up for longer; a cell is void only if it is shown not to become steady, or nothing is left.
 */
export function judgeWarmup({
  cell,
  launches,
  counted,
  cold,
}: Pick<Evidence, 'cell' | 'launches' | 'counted' | 'cold'>): GateResult {
  const measured = launches.filter((slices) => slices.some(({ phase }) => phase === 'measure'))
  if (measured.length === 0) return unknown('warmup', 'nothing was measured')
  const discarded = Math.min(...measured.map(discardedMs))
  if (discarded < cell.warmupMs * (1 - SHORTER_BY)) {
    const finding = `only ${Math.round(discarded)} of ${cell.warmupMs} ms were discarded before measuring`
    return failed('warmup', finding, 'Measure again: it was cut short.')
  }
  const stated = `${Math.round(discarded)} ms were discarded before measuring`
  if (cold === null) return passed('warmup', stated)
  if (cold === undefined) return passed('warmup', `${stated}, and later slices did not cost less`)
  const first = `${stated}; the first slices then cost ${formatPercent(cold.ratio - 1)} more than later ones`
  if (cold.steady && counted.some(({ length }) => length > 0))
    return passed('warmup', `${first}, and do not count`)
  return failed(
    'warmup',
    `${first}, and it did not become steady`,
    'Read what it does meanwhile: its own code may be compiled, or a cache filled.',
  )
}

/** Milliseconds of load on this cell before its first measured slice. */
function discardedMs(slices: readonly JudgedSlice[]): number {
  return slices
    .filter(({ phase }) => phase === 'warmup')
    .reduce((sum, { seconds }) => sum + seconds * 1000, 0)
}

/**
 * Drivers measure a latency from their own view of send and receipt and count what is in flight at the ends differently; a
 * lost response, an idle connection or a wrong clock shows as more than this.
 */
const LITTLE_WITHIN = 0.1

/**
 * Little's law: what is in flight = rate × mean latency (J. D. C. Little, A Proof for the Queuing Formula L = λW, 1961). In a closed loop
 * with one request in flight on each connection that is the number of connections. Startgrid's own generator is tested for it.
 */
export function judgeLittlesLaw({
  cell,
  counted,
  driver,
}: Pick<Evidence, 'cell' | 'counted' | 'driver'>): GateResult {
  if (driver.name === 'startgrid')
    return notMeant('littles-law', "only for other generators: the tests of Startgrid's own check it")
  const slices = counted.flat()
  const seconds = slices.reduce((sum, slice) => sum + slice.seconds, 0)
  if (seconds === 0) return unknown('littles-law', 'nothing was measured')
  const inFlight =
    slices.reduce((sum, { requests, meanLatency }) => sum + requests * meanLatency, 0) / seconds
  const finding = `rate × mean latency is ${inFlight.toFixed(1)} requests in flight on ${cell.connections} connections`
  if (Math.abs(inFlight / cell.connections - 1) <= LITTLE_WITHIN) return passed('littles-law', finding)
  return failed(
    'littles-law',
    `${finding}, more than ${formatPercent(LITTLE_WITHIN)} apart`,
    `${driver.name} lost requests or measured wrong times: trust no figure of it.`,
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
 * nominal rate, from which a Poisson process differs by chance.
 */
export function judgeOfferedLoad({ offered, achieved, lag, generatorBound }: OfferedLoad): GateResult {
  const rates = `${formatRate(achieved)} of ${formatRate(offered)} requests per second got a response`
  if (generatorBound)
    return failed(
      'offered-load',
      `${rates}: the generator could not offer them`,
      'Offer less, or give it a core of its own.',
    )
  if (Math.abs(achieved - offered) > offered * OFFERED_WITHIN)
    return failed('offered-load', rates, 'Offer less: the server cannot keep up, and its queue only grows.')
  if (lag === null) return unknown('offered-load', `${rates}; how late they were sent is not known`)
  const finding = `${rates} (within ${formatPercent(OFFERED_WITHIN)}), 99 % were sent at most ${lag.p99.toFixed(2)} ms late`
  if (lag.p99 <= LAG_P99_MS) return passed('offered-load', finding)
  return failed('offered-load', finding, 'Close other programs, or give the generator a core of its own.')
}
