import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { plural } from '@startgrid/cli/text.ts'
import { commonRate } from '../experiment/open-loop.ts'
import type { Pace } from '../experiment/time.ts'
import { FULL_CORES, LEAST_STARTS } from '../judge/findings.ts'
import { whyFailed } from '../judge/gates.ts'
import type { LoadRace } from '../result/experiment.ts'
import type { PilotRecord } from '../result/figures.ts'
import type { Cell } from '../result/result.ts'
import { causeOf } from '../servers/command/cause.ts'
import { unequalHeads } from '../servers/command/equal-work.ts'
import type { Server } from '../servers/servers.ts'
import { CellFailure, type Entrant, measureSlice, tcpCounter } from './load.ts'
import type { PreparedRun } from './preparation.ts'
import { whyNotProfiled } from './profiles.ts'
import { PilotError, type ProofOptions, proveEqual, StartError } from './proof.ts'
import { LEAST_WARMUP_MS, learnWarmup, WINDOW_MS } from './warmup.ts'

/**
 * A launch that does not count: do all systems send the same, how long do they need to become warm, and what limits them? What it finds
 * is in the race and its cells, and holds for all heats.
 * @throws {PilotError} if a system cannot be measured, or does other work than the first one
 */
export async function pilot(
  { start, generator, signal, progress, warn, result, endsAt }: PreparedRun,
  name: string,
  race: LoadRace,
  cells: readonly Cell[],
  { needsProfiler = false, ...options }: ProofOptions & { needsProfiler?: boolean },
): Promise<{ race: LoadRace; record: PilotRecord; pace: Pace } | undefined> {
  const starts = Math.min(LEAST_STARTS, result.settings.heats)
  const startsMs = Math.min(MOST_START_MS, (endsAt - performance.now()) / (1 + starts))
  const patience = AbortSignal.timeout(Math.max(1, Math.round(startsMs)))
  const servers = await start(cells, {
    together: true,
    signal: AbortSignal.any([signal, patience]),
    profiled: needsProfiler,
  })
  try {
    if (signal.aborted) return undefined
    for (const { id, title } of cells)
      if (servers.failures.has(id))
        throw new StartError(
          `${title} did not start${needsProfiler ? ' with our profiler' : ''}: ${servers.failures.get(id)}.`,
        )
    const started = cells.flatMap((cell) => {
      const server = servers.running.get(cell.id)
      return server === undefined ? [] : [{ cell, server }]
    })
    const without = needsProfiler ? whyNotProfiled(started) : undefined
    if (without !== undefined) throw new UsageError(without)
    progress.say(`${name}: comparing responses, and learning how long the systems need to become warm.`)
    const { proven, difference } = await proveEqual(started, race.workload, options)
    if (difference !== null) progress.say(`${difference.says}${difference.where}.`)
    const heads = proven.flatMap(({ proofs: [first] }) => first?.head ?? [])
    for (const text of unequalHeads(heads)) warn({ kind: 'race', text })
    const notRaced = ({ cell }: Entrant, reason: string) =>
      new PilotError(`${cell.title} cannot be raced (${name}): ${reason}.`)
    const track = { signal, generator, beganAt: performance.now() }
    const until = performance.now() + (endsAt - performance.now()) * PILOT_PART
    let windows = 0
    const warm = await learnWarmup(proven, until, async (entrant) => {
      const { connections } = entrant.cell
      const { responseMs = 0, head } = entrant.proofs[0] ?? {}
      const droppedBefore = tcpCounter('ListenOverflows') ?? 0
      const slice = await measureSlice(track, entrant, {
        phase: 'warmup',
        durationMs: WINDOW_MS,
        pass: null,
        seed: ++windows,
        timeoutMs: Math.min(MOST_PATIENCE_MS, LEAST_PATIENCE_MS + 2 * connections * responseMs),
      }).catch((error: unknown) => {
        if (!(error instanceof CellFailure)) throw error
        throw notRaced(entrant, error.message)
      })
      const dropped = (tcpCounter('ListenOverflows') ?? 0) - droppedBefore
      // It would be void: better said now than after all heats.
      const failure = whyFailed(slice)
      const isDropping = dropped > 0 && (head?.closes || 'timeout' in slice.errors)
      if (isDropping)
        throw notRaced(
          entrant,
          `its accept queue overflowed ${plural(dropped, 'time')} with ${plural(connections, 'connection')}: try -c 4, or give it a longer backlog`,
        )
      if (failure === null) return slice
      const ended = await endOf(entrant.server)
      if (ended !== null) throw notRaced(entrant, ended)
      const { target } = entrant.server
      const cause = await causeOf(slice.errors, { target, connections, known: entrant.proofs })
      throw notRaced(entrant, cause === undefined ? failure : `${failure}; ${cause}`)
    })
    if (signal.aborted) return undefined
    const warmupMs = Math.max(LEAST_WARMUP_MS, ...warm.map(({ ms }) => ms))
    // On a crowded core the same time has fewer requests, and code is compiled by requests.
    for (const { cell, requests } of warm) Object.assign(cell, { warmupMs, warmupRequests: requests })
    const uses = warm.map(({ coreUse }) => coreUse)
    const isFull = uses.includes(null) || uses.every((use) => use === null || use >= FULL_CORES)
    return {
      race: {
        ...race,
        workloads: Object.fromEntries(proven.map(({ cell, workload }) => [cell.app, workload])),
      },
      pace: {
        startMs: servers.startMs ?? 0,
        rates: new Map(warm.map(({ cell, rate }) => [cell.id, rate])),
        openRate: race.openRate ?? commonRate(warm.map(({ rate }) => rate)) ?? 1,
      },
      record: {
        race: name,
        decides: isFull ? 'rate' : 'cpu',
        warmupMs,
        systems: warm.map(({ cell, proofs, steady, coreUse }) => ({
          system: cell.app,
          masked: proofs.reduce((sum, one) => sum + one.masked, 0),
          steady,
          coreUse,
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

/** The longest that a timer of Node waits. */
const MOST_START_MS = 2 ** 31 - 1

/** Why a server whose requests failed is no longer there: its connections break a moment before its end is known. */
async function endOf(server: Server): Promise<string | null> {
  for (let waited = 0; waited < 20; waited++) {
    const reason = await server.whyEnded()
    if (reason !== null) return reason
    await sleep(50)
  }
  return null
}

/** Allowed to a response under load: that of all connections, one after the other, twice. */
const LEAST_PATIENCE_MS = 5000
const MOST_PATIENCE_MS = 20_000

/** Of the time that is left, for learning how long systems need to become warm. */
const PILOT_PART = 0.25
