import { setTimeout as sleep } from 'node:timers/promises'
import { formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import type { Spinner, SpinTime } from '@startgrid/machine/spin.ts'
import { forecast, type Spin } from '@startgrid/stats/forecast.ts'
import { mean, median } from '@startgrid/stats/moments.ts'
import { NOISY } from '../judge/certainty.ts'
import type { CellSpec, Result } from '../model/result.ts'
import { ENDING_MS, heatsWithin, PREPARATION_MS, passesWithin } from '../plan/budget.ts'
import { expectedHeatMs } from '../plan/cells.ts'

/** What a run can be expected to show, said before it starts. */

interface WatchedSpin extends Spin, SpinTime {}

/** A core and the spins on it, in order. */
export interface WatchedCore {
  spins: readonly WatchedSpin[]
  /** Rounds of each spin. */
  rounds: number
}

const WATCHED_MS = 5000
/** 30 spins. */
const LEAST_WATCHED_MS = 600
const EVERY_MS = 20

/** How long the cores are watched before a run, in milliseconds: 5 s, or a tenth of heats that take less than 50 s, but at least 0.6 s. */
export function watchingMs(result: Result): number {
  return Math.min(WATCHED_MS, Math.max(LEAST_WATCHED_MS, heatsMs(result, result.settings.heats) / 10))
}

/**
 * Spins on a core for so many milliseconds. Nothing else may run on it meanwhile.
 * @returns after an abort, or if the process ended, those that there were
 */
export async function watchCore(
  spinner: Pick<Spinner, 'spin' | 'rounds'>,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<WatchedCore> {
  const spins: WatchedSpin[] = []
  const began = performance.now()
  for (let due = 0; due < ms && !signal.aborted; due += EVERY_MS) {
    await sleep(Math.max(0, began + due - performance.now()))
    const at = (performance.now() - began) / 1000
    if (at * 1000 > 2 * WATCHED_MS) break // so busy that it would take minutes
    const spin = await spinner.spin()
    if (spin === null) break
    spins.push({ at, ...spin })
  }
  return { spins, rounds: spinner.rounds }
}

/** CPU time of a round, in nanoseconds, on the machine on which the times in plan/ were measured. */
const REFERENCE_ROUND_NS = 6.5

/** Fewer spins tell nothing. */
const LEAST_SPINS = 20

/**
 * Of the ratios of the largest race.
 * @param cores that of the servers, then that of the generator
 * @param foreign what other programs used of the servers' core meanwhile, 0 to 1; null where the system does not tell
 * @returns null with too few spins
 */
export function foresee(
  result: Result,
  cores: readonly WatchedCore[],
  foreign: number | null,
): Foresight | null {
  const [servers] = cores
  if (servers === undefined || cores.some(({ spins }) => spins.length < LEAST_SPINS)) return null
  const { cells, settings } = result
  const { maxTimeMs, heats: planned } = settings
  const slowness = mean(cores.map(slownessOf))
  const passes = maxTimeMs === null ? settings.slices : passesWithin(maxTimeMs, planned, result, slowness)
  const heats = Map.groupBy(cells, ({ role }) => role)
  const races = Map.groupBy(cells, ({ role, topology }) => `${role} ${topology}`)
  const sizeOf = (groups: ReadonlyMap<string, readonly CellSpec[]>) =>
    Math.max(...[...groups.values()].map(({ length }) => length))
  const { spread, halfWidth } = forecast(
    cores.map(({ spins }) => spins),
    {
      cells: sizeOf(heats),
      rows: sizeOf(races),
      passes,
      sliceSeconds: settings.sliceMs / 1000,
      stepSeconds: settings.sliceMs / 1000 + slowness * BETWEEN_SECONDS,
    },
  )
  const taken = Math.max(foreign ?? 0, preempted(servers.spins))
  return { spread, slowness, taken, widthOf: (count) => (count < 2 ? null : halfWidth(count)) }
}

/** What a round costs, divided by what it costs on the machine of reference: at least 1, for a faster machine has not been seen. */
function slownessOf({ spins, rounds }: WatchedCore): number {
  const typical = median(spins.map(({ cpuSeconds }) => cpuSeconds))
  return rounds === 0 ? 1 : Math.max(1, (typical * 1e9) / rounds / REFERENCE_ROUND_NS)
}

/** Part of the time of the spins in which others had the core. Who wakes up is served first, so this is a lower bound. */
function preempted(spins: readonly WatchedSpin[]): number {
  const cpu = spins.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const wall = spins.reduce((sum, { wallSeconds }) => sum + wallSeconds, 0)
  return wall > cpu ? 1 - cpu / wall : 0
}

export interface Foresight {
  spread: number
  /** What work costs here, divided by what it costs on the machine on which the times of the plan were measured; at least 1. */
  slowness: number
  /** Part of the core's time that other programs visibly used, 0 to 1. */
  taken: number
  /** With so many heats of each role: a part of 1; null with one. */
  widthOf(heats: number): number | null
}

/** From one slice to the next. */
const BETWEEN_SECONDS = 0.014

/** `This machine's cores change speed by ×1.5 within seconds: … In 5 minutes: about ±12 %. ±8 % takes 10 minutes: --max-time 10m.` */
export function describeForesight(result: Result, foresight: Foresight | null): string {
  if (foresight === null)
    return result.settings.cores === null
      ? 'Nothing can be pinned to a core here, so nobody can say how fast the cores of the servers are, nor how certain the result will be.'
      : 'The speed of the cores could not be measured, so how certain the result will be is not known.'
  const { spread, taken, widthOf } = foresight
  const { heats } = result.settings
  const found =
    spread >= NOISY
      ? `This machine's cores change speed by ×${formatRatio(spread)} within seconds: neighbours that you cannot see.`
      : `The cores of the servers and of the load generator keep their speed within ×${formatRatio(spread)}.`
  const width = widthOf(heats)
  if (width === null) return `${found} One heat of each role gives no intervals.`
  let more = Math.ceil(minutesOf(result, 2 * heats))
  while (heatsWithin((more - 1) * 60_000, result) >= 2 * heats) more--
  const others = isCrowded(foresight)
    ? ` Other programs use ${formatPercent(taken)} of the core of the servers: close them, for they widen the intervals by more than can be foreseen. Without them,`
    : ''
  const time = inMinutes(Math.max(1, Math.round(minutesOf(result, heats))))
  return (
    `${found}${others} ${others === '' ? 'In' : 'in'} ${time}: about ±${formatPercent(width)}. ` +
    `±${formatPercent(widthOf(2 * heats) ?? width)} takes ${inMinutes(more)}: \`--max-time ${more}m\`.`
  )
}

/** Whether other programs visibly use so much of the core that no forecast holds. */
export function isCrowded({ taken }: Pick<Foresight, 'taken'>): boolean {
  return taken > CROWDED
}

const CROWDED = 0.1

/** Minutes of a run with so many heats of each role. */
function minutesOf(result: Result, heats: number): number {
  return (PREPARATION_MS + ENDING_MS + heatsMs(result, heats)) / 60_000
}

/** Milliseconds that so many heats of each role take. */
function heatsMs({ cells, settings, mode }: Result, heats: number): number {
  const roles = [...Map.groupBy(cells, ({ role }) => role).values()]
  return heats * roles.reduce((sum, own) => sum + expectedHeatMs(own, settings, mode), 0)
}

function inMinutes(minutes: number): string {
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}
