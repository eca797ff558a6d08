import { setTimeout as sleep } from 'node:timers/promises'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import { listOf, oneLine, plural } from '@startgrid/cli/text.ts'
import { mean, median } from '@startgrid/stats/moments.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import { causeOf, type Known } from '../environments/command/cause.ts'
import {
  differenceOf,
  expectationOf,
  type Head,
  type Learnt,
  learn,
  MOST_MASKED,
  unequalHeads,
} from '../environments/command/equal-work.ts'
import { askOften, isExpected, quote } from '../environments/command/request.ts'
import type { Server } from '../environments/environment.ts'
import { commonRate } from '../experiment/open-loop.ts'
import { LEAST_STARTS } from '../judge/findings.ts'
import { whyFailed } from '../judge/trial.ts'
import type { Cell } from '../model/cell.ts'
import { type Asked, type LoadRace, nameAsked, type Workload } from '../model/experiment.ts'
import type { PilotRecord } from '../model/figures.ts'
import type { Slice } from '../model/heat.ts'
import { CellFailure, type Entrant, measureSlice, tcpCounter } from './load.ts'
import type { PreparedRun } from './preparation.ts'

/** Why a race cannot be run; the message is a sentence. */
export class PilotError extends ForeseenError {
  override name = 'PilotError'
}

export interface PilotOptions {
  /** Systems may send different responses. */
  different: boolean
  /** Of a right response; undefined: any 2xx. */
  status: number | undefined
}

/** What it takes to measure a race, besides what its cells say. */
export interface Pace {
  /** Milliseconds to start its systems, one after the other. */
  startMs: number
  /** Responses per second at saturation, by cell. */
  rates: ReadonlyMap<string, number>
  /** Requests per second of its open loops. */
  openRate: number
}

/**
 * A launch that does not count: do all systems send the same, how long do they need to become warm, and what limits them? What it finds
 * is in the race and its cells, and holds for all heats.
 * @throws {PilotError} if a system cannot be measured, or does other work than the first one
 */
export async function pilot(
  { environment, generator, signal, progress, warn, result, endsAt }: Prepared,
  name: string,
  race: LoadRace,
  cells: readonly Cell[],
  options: PilotOptions,
): Promise<{ race: LoadRace; record: PilotRecord; pace: Pace } | undefined> {
  const leftMs = endsAt - performance.now()
  const starts = Math.min(LEAST_STARTS, result.settings.heats)
  const startsMs = leftMs / (1 + starts)
  const patience = Number.isFinite(startsMs) ? [AbortSignal.timeout(Math.max(1, Math.round(startsMs)))] : []
  const servers = await environment.start(cells, {
    ...{ pinned: true, together: true },
    signal: AbortSignal.any([signal, ...patience]),
  })
  try {
    if (signal.aborted) return undefined
    for (const { id, title } of cells)
      if (servers.failures.has(id))
        throw new PilotError(`${title} did not start: ${servers.failures.get(id)}.`)
    const started = cells.flatMap((cell) => {
      const server = servers.running.get(cell.id)
      return server === undefined ? [] : [{ cell, server }]
    })
    const late = cells.filter(({ id }) => !servers.running.has(id))
    if (late.length > 0)
      throw new PilotError(
        `${listOf(late.map(({ title }) => title))} did not start within ${Math.round(startsMs / 1000)} s, so ${plural(starts, 'start')} do not fit into --max-time: give it more.`,
      )
    progress.say(`${name}: comparing responses, and learning how long the systems need to become warm.`)
    const { proofs, difference } = await proveEqual(started, race.workload, options)
    if (difference !== null) progress.say(`${difference.says}${difference.where}.`)
    for (const text of unequalHeads(proofs.map(({ head }) => head))) warn({ kind: 'race', text })
    const entrants = started.map((one, index) => ({
      ...one,
      workload: workloadOf(race.workload, proofs[index]),
      generator,
    }))
    const notRaced = ({ cell }: Entrant, reason: string) =>
      new PilotError(`${cell.title} cannot be raced (${name}): ${reason}.`)
    const track = { signal, beganAt: performance.now(), details: false }
    const until = performance.now() + (endsAt - performance.now()) * PILOT_PART
    let windows = 0
    const warmups = await learnWarmup(entrants, until, async (entrant) => {
      const { connections } = entrant.cell
      const proof = proofs[entrants.indexOf(entrant)]
      const droppedBefore = tcpCounter('ListenOverflows') ?? 0
      const slice = await measureSlice(track, entrant, {
        phase: 'warmup',
        durationMs: WINDOW_MS,
        pass: null,
        seed: ++windows,
        timeoutMs: Math.min(MOST_PATIENCE_MS, LEAST_PATIENCE_MS + 2 * connections * (proof?.responseMs ?? 0)),
      }).catch((error: unknown) => {
        if (!(error instanceof CellFailure)) throw error
        throw notRaced(entrant, error.message)
      })
      const dropped = (tcpCounter('ListenOverflows') ?? 0) - droppedBefore
      // It would be void: better said now than after all heats.
      const failure = whyFailed(slice)
      const isDropping = dropped > 0 && (proof?.head.closes || 'timeout' in slice.errors)
      if (isDropping)
        throw notRaced(
          entrant,
          `its accept queue overflowed ${plural(dropped, 'time')} with ${plural(connections, 'connection')}: try -c 4, or give it a longer backlog`,
        )
      if (failure === null) return slice
      const ended = await endOf(entrant.server)
      if (ended !== null) throw notRaced(entrant, ended)
      const { target } = entrant.server
      const cause = await causeOf(slice.errors, { target, connections, known: proof?.known ?? [] })
      throw notRaced(entrant, cause === undefined ? failure : `${failure}; ${cause}`)
    })
    if (signal.aborted) return undefined
    const warmupMs = Math.max(LEAST_WARMUP_MS, ...warmups.map(({ ms }) => ms))
    for (const [index, cell] of cells.entries()) {
      cell.warmupMs = warmupMs
      // On a crowded core the same time has fewer requests, and code is compiled by requests.
      cell.warmupRequests = warmups[index]?.requests ?? 0
    }
    const uses = warmups.map(({ coreUse }) => coreUse)
    const isFull = uses.includes(null) || uses.every((use) => use === null || use >= FULL)
    return {
      race: {
        ...race,
        workloads: Object.fromEntries(entrants.map(({ cell, workload }) => [cell.app, workload])),
      },
      pace: {
        startMs: servers.startMs ?? 0,
        rates: new Map(cells.map(({ id }, index) => [id, warmups[index]?.rate ?? 0])),
        openRate: commonRate(warmups.map(({ rate }) => rate)) ?? 1,
      },
      record: {
        race: name,
        decides: isFull ? 'rate' : 'cpu',
        warmupMs,
        systems: cells.map(({ app }, index) => ({
          system: app,
          masked: proofs[index]?.masked ?? 0,
          bytes: proofs[index]?.bytes ?? 0,
          steady: warmups[index]?.steady ?? false,
          coreUse: uses[index] ?? null,
        })),
        difference: difference?.says ?? null,
      },
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    await servers.stop()
  }
}

type Prepared = Pick<
  PreparedRun,
  'environment' | 'generator' | 'signal' | 'progress' | 'warn' | 'result' | 'endsAt'
>

/** Why a server whose requests failed is no longer there: its connections break a moment before its end is known. */
async function endOf(server: Server): Promise<string | null> {
  for (let waited = 0; waited < 20; waited++) {
    const reason = await server.whyEnded()
    if (reason !== null) return reason
    await sleep(50)
  }
  return null
}

/** Responses of one system that tell what differs between them. */
const RESPONSES = 5
const RESPONSE_MS = 10_000

/** Allowed to a response under load: that of all connections, one after the other, twice. */
const LEAST_PATIENCE_MS = 5000
const MOST_PATIENCE_MS = 20_000

/** Of the time that is left, for learning how long systems need to become warm. */
const PILOT_PART = 0.25

interface Proof {
  /** Of the first path, or the only one. */
  learnt: Learnt
  /** Of every path of a mixture. */
  mix: { path: string; weight: number; learnt: Learnt }[]
  status: number
  /** Of a body on average, and how many of them are masked; of a mixture, all together. */
  bytes: number
  masked: number
  /** Of the first path. */
  head: Head
  /** Milliseconds, on average. */
  responseMs: number
  /** Of every path. */
  known: Known[]
}

type Started = Pick<Entrant, 'cell' | 'server'>

async function proveEqual(
  started: readonly Started[],
  asked: Workload,
  options: PilotOptions,
): Promise<{ proofs: Proof[]; difference: Different | null }> {
  const proofs: Proof[] = []
  for (const one of started) proofs.push(await proofOf(one, asked, options))
  const cells = started.map(({ cell }) => cell)
  const difference = differenceBetween(cells, proofs)
  if (difference !== null && !options.different)
    throw new PilotError(
      `${difference.says}${difference.where}. Equal work comes first: if one was still starting, name a --ready-path; if the difference is meant, add --different-responses.`,
    )
  return { proofs, difference }
}

/** All paths of a mixture are proven. */
async function proofOf(started: Started, asked: Workload, options: PilotOptions): Promise<Proof> {
  const { mix = [], ...plain } = asked
  if (mix.length === 0) return { ...(await proofOfPath(started, plain, options)), mix: [] }
  const proofs = []
  for (const { path, weight } of mix)
    proofs.push({ path, weight, ...(await proofOfPath(started, { ...plain, path }, options)) })
  const [first] = proofs
  const other = proofs.find(({ status }) => status !== first?.status)
  if (first === undefined || other !== undefined)
    throw new PilotError(
      `${started.cell.title} responds to ${other?.path} with status ${other?.status}, and to ${first?.path} with ${first?.status}: paths of one mixture must have one status.`,
    )
  const bytes = proofs.reduce((sum, one) => sum + one.bytes, 0)
  const masked = proofs.reduce((sum, one) => sum + one.masked, 0)
  return { ...first, bytes, masked, known: proofs.flatMap(({ known }) => known), mix: proofs }
}

async function proofOfPath(
  { cell, server }: Started,
  asked: Asked,
  { status }: PilotOptions,
): Promise<Omit<Proof, 'mix'>> {
  const responses: Response[] = []
  let connections = 0
  const beganAt = performance.now()
  try {
    for await (const { response, connection } of askOften(server.target, asked, RESPONSE_MS)) {
      if (!isExpected(response, { ...(status !== undefined && { status }) }))
        throw new PilotError(
          `${cell.title} responds to ${nameAsked(asked)} with status ${response.status} and ${quote(response)}, and ${status ?? '2xx'} was expected: see --path, --header and --expect-status.`,
        )
      connections = connection
      if (responses.push(response) === RESPONSES) break
    }
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    throw new PilotError(`${cell.title} does not respond to ${nameAsked(asked)}: ${oneLine(error)}.`)
  }
  const [first] = responses
  const last = responses.at(-1)
  if (first === undefined || last === undefined) throw new Error('it has no response')
  const learnt = learn(responses.map(({ body }) => body))
  if (learnt.masked > MOST_MASKED)
    throw new PilotError(
      `${Math.round(learnt.masked * 100)} % of the bytes that ${cell.title} sends for ${nameAsked(asked)} differ from response to response (${quote(first)}, then ${quote(last)}), which proves nothing about equal work (at most ${MOST_MASKED * 100} %): ask for a --path that changes less, or name a --ready-path if it was still starting.`,
    )
  const bytes = Math.round(mean(responses.map(({ body }) => body.length)))
  const headBytes = mean(
    responses.map(({ headers }) =>
      headers.reduce((sum, [header, value]) => sum + `${header}: ${value}\r\n`.length, 0),
    ),
  )
  return {
    ...{ learnt, status: first.status, bytes, masked: Math.round(learnt.masked * bytes) },
    responseMs: (performance.now() - beganAt) / RESPONSES,
    known: [{ asked, status: first.status, template: learnt.template, first }],
    head: {
      title: cell.title,
      names: [...new Set(first.headers.map(([header]) => header.toLowerCase()))],
      bytes: Math.round(bytes + headBytes),
      closes: connections === RESPONSES,
    },
  }
}

/** A sentence without its full stop. `where` quotes bodies, in which secrets may be: it is in no file. */
interface Different {
  says: string
  where: string
}

/** Null if all send what the first one does. */
function differenceBetween(cells: readonly Cell[], proofs: readonly Proof[]): Different | null {
  const [first, ...others] = proofs
  for (const [index, other] of others.entries()) {
    const [one, two] = [cells[0]?.title, cells[index + 1]?.title]
    if (first === undefined) continue
    if (first.status !== other.status)
      return { says: `${one} responds with status ${first.status}, ${two} with ${other.status}`, where: '' }
    const found = pathsOf(first)
      .map((learnt, place) => differenceOf(learnt.template, pathsOf(other)[place]?.template ?? []))
      .find((difference) => difference !== undefined)
    if (found !== undefined)
      return {
        says: `${one} and ${two} send different bodies`,
        where: `: after ${JSON.stringify(found.before)}, ${one} has ${JSON.stringify(found.one)} and ${two} ${JSON.stringify(found.other)}`,
      }
  }
  return null
}

function pathsOf({ learnt, mix }: Proof): Learnt[] {
  return mix.length === 0 ? [learnt] : mix.map((one) => one.learnt)
}

function workloadOf(asked: Workload, proof: Proof | undefined): Workload {
  if (proof === undefined) return asked
  const { learnt, status, mix } = proof
  const drawn = mix.map(({ path, weight, learnt: own }) => ({ path, weight, expect: expectationOf(own) }))
  const proven = { ...asked, expect: expectationOf(learnt), status, isProven: true as const }
  return asked.mix === undefined ? proven : { ...proven, mix: drawn }
}

/** Milliseconds of load whose cost is one value. */
const WINDOW_MS = 250

/** A server that becomes cheaper for longer is not steady. */
const MOST_WINDOWS = 24
/** The last windows: what a warm server costs. */
const LAST = 4
/** Cheaper than the windows before by less than this: steady. */
const STEADY = 0.03
/** A window is warm within this part of the last ones. */
const WARM = 0.07

export const LEAST_WARMUP_MS = 500

/** Of each system, without its start. */
export const LEAST_PILOT_MS = 2 * LAST * WINDOW_MS

/** From this part of its cores on, a server is limited by them. */
const FULL = 0.9

interface Warmup {
  ms: number
  /** Served in that time. */
  requests: number
  steady: boolean
  /** Requests per second of the last windows. */
  rate: number
  /** Of its core, 0 to 1; null where it is not known. */
  coreUse: number | null
}

/** @param until `performance.now()` when it has to be over, steady or not */
async function learnWarmup(
  entrants: readonly Entrant[],
  until: number,
  measure: (entrant: Entrant) => Promise<Slice | undefined>,
): Promise<Warmup[]> {
  const random = createRandom(1)
  const slices = entrants.map((): Slice[] => [])
  for (let window = 0; window < MOST_WINDOWS; window++) {
    // Each until it is steady: noise makes it rare that all are at once.
    const open = [...entrants.keys()].filter((index) => !isSteady((slices[index] ?? []).map(costOf)))
    if (open.length === 0 || (window > 0 && performance.now() > until)) break
    for (const index of shuffle(open, random)) {
      const entrant = entrants[index]
      const slice = entrant && (await measure(entrant))
      if (slice === undefined) return []
      slices[index]?.push(slice)
    }
  }
  return slices.map((own, index) => {
    const costs = own.map(costOf)
    const warm = median(costs.slice(-LAST))
    const from = costs.findIndex((cost) => cost <= warm * (1 + WARM))
    const given = entrants[index]?.cell.cores.given ?? 1
    const uses = own.slice(-LAST).map((slice) => coreUse(slice, given))
    return {
      ms: (from + 1) * WINDOW_MS,
      requests: own.slice(0, from + 1).reduce((sum, slice) => sum + slice.requests, 0),
      steady: isSteady(costs),
      rate: mean(own.slice(-LAST).map(({ requests, seconds }) => requests / seconds)),
      coreUse: uses.some((use) => use === null) ? null : Math.max(...uses.map((use) => use ?? 0)),
    }
  })
}

/** Part of the cores that others left to it. */
function coreUse({ cpuSeconds: { app }, disturbance, seconds }: Slice, given: number): number | null {
  const taken = Math.max(0, ...Object.values(disturbance).filter((part) => part !== null))
  return app && Math.min(1, app / (seconds * Math.max(0.05, given - taken)))
}

/** CPU per request; time per request where the system does not tell. */
function costOf({ cpuSeconds: { app }, seconds, requests }: Slice): number {
  return (app ?? seconds) / Math.max(1, requests)
}

function isSteady(costs: readonly number[]): boolean {
  if (costs.length < 2 * LAST) return false
  const [before, now] = [costs.slice(-2 * LAST, -LAST), costs.slice(-LAST)]
  return median(now) >= median(before) * (1 - STEADY)
}
