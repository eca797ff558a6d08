import { plural } from '@startgrid/cli/text.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { planLooks } from '@startgrid/stats/looks.ts'
import { latencyHeats } from '../experiment/open-loop.ts'
import { RACE_SETTINGS } from '../experiment/race.ts'
import { ENDING_MS, MOST_HEATS, type Pace, type Paces, type Planned, roundMs } from '../experiment/time.ts'
import { LEAST_STARTS } from '../judge/findings.ts'
import type { IsEnough } from '../judge/verdict.ts'
import { type Experiment, isProbe } from '../result/experiment.ts'
import type { Finding } from '../result/figures.ts'
import type { Result, Warning } from '../result/result.ts'
import { openCommands } from '../servers/command/open.ts'
import type { OpenOptions } from '../servers/servers.ts'
import { runHeats, shareOf } from './heats.ts'
import { pilot } from './pilot.ts'
import { type RunContext, withPreparedRun } from './preparation.ts'
import { profileRaces } from './profiles.ts'
import { PilotError, type ProofOptions, StartError, TimeError } from './proof.ts'
import { LEAST_PILOT_MS, LEAST_WARMUP_MS } from './warmup.ts'

interface RaceRun extends RunContext, ProofOptions {
  guard: Guard
  /** Of the servers. */
  cores: number
  /** As many starts as there is time for, until it is enough. */
  fillsTime: boolean
  isEnough: IsEnough
  /** Of what was prepared. */
  warnings?: readonly Warning[]
  /** Whether functions are to be named that account for it; default never. */
  asksWhy?(finding: Finding): boolean
  /** Whether servers that cannot be profiled are refused; default false. */
  needsProfiler?: boolean
}

/**
 * Measures a race of commands: a pilot that does not count, then all heats, in which what it found stays as it is.
 * @throws {PilotError} if the systems cannot be compared
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runRace(
  experiment: Experiment,
  result: Result,
  { guard, cores, fillsTime, isEnough, warnings = [], asksWhy = () => false, ...context }: RaceRun,
): Promise<void> {
  let known = experiment
  /** Of several paths the others count. */
  const refused: PilotError[] = []
  const paces = new Map<string, Pace>()
  const preparation = {
    ...context,
    experiment,
    open: async (options: OpenOptions) => {
      const opened = await openCommands(experiment, { ...options, guard, cores, seed: result.seed })
      const given = opened.cores?.servers?.length ?? 1
      for (const cell of result.cells) cell.cores = { wanted: cores, given }
      return opened
    },
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    for (const warning of warnings) prepared.warn(warning)
    for (const [name, race] of Object.entries(known.races)) {
      if (isProbe(race)) continue
      const cells = result.cells.filter((cell) => cell.race === name)
      const found = await pilot(prepared, name, race, cells, context).catch((error: unknown) => {
        if (error instanceof PilotError && !(error instanceof StartError)) return error
        throw error
      })
      if (found === undefined) return
      if (found instanceof PilotError) {
        refused.push(found)
        known = withoutRace(known, name)
        continue
      }
      known = { ...known, races: { ...known.races, [name]: found.race } }
      paces.set(name, found.pace)
      result.pilots.push(found.record)
    }
    const [first] = refused
    if (first !== undefined && result.pilots.length === 0) throw first
    for (const { message } of refused) context.progress.say(message)
    for (const name of Object.keys(experiment.races).filter((one) => !(one in known.races))) {
      result.experiment = withoutRace(result.experiment, name)
      result.cells = result.cells.filter((cell) => cell.race !== name)
      prepared.warn({ kind: 'refused', text: `${name} could not be raced and is left out: exit code 2.` })
    }
    const asked = result.settings.heats
    const plan = { paces, leftMs: prepared.endsAt - performance.now(), fillsTime }
    for (const text of planStarts(result, plan)) context.progress.say(text)
    const least = fillsTime ? LEAST_STARTS : asked
    const run = { ...prepared, experiment: known }
    await runHeats(run, { asked: least, paces, isEnough })
    const whys = (result.analysis?.findings ?? []).filter((one) => !one.isTwin && asksWhy(one))
    if (whys.length === 0 || context.signal.aborted) return
    // What more time would do for the verdict does not depend on the profiles.
    result.finishedAt = new Date().toISOString()
    await profileRaces(run, whys)
  })
}

function withoutRace(experiment: Experiment, name: string): Experiment {
  const { [name]: _, ...races } = experiment.races
  return { ...experiment, races }
}

/**
 * How many starts, how long they are, and when the race is looked at: in the settings of the result. Where ten starts do not fit, they become shorter.
 * @param leftMs milliseconds after the pilot
 * @returns what a person must know, in sentences
 * @throws {TimeError} if not enough starts fit for a verdict
 */
export function planStarts(
  result: Result,
  { paces, leftMs, fillsTime }: { paces: Paces; leftMs: number; fillsTime: boolean },
): string[] {
  const { settings } = result
  const asked = settings.heats
  const said: string[] = []
  if (fillsTime) settings.looks = []
  if (!fitsLatencies(leftMs, result, paces)) {
    settings.openLoop = null
    said.push(`Latencies are left out: ${LEAST_STARTS} starts of each need all the time.`)
  }
  const timeOf = (slices: number) => roundMs({ ...result, settings: { ...settings, slices } }, paces)
  while (settings.slices > LEAST_PASSES && startsWithin(leftMs, result, paces) < asked) settings.slices -= 1
  const fit = startsWithin(leftMs, result, paces)
  const least = Math.min(LEAST_STARTS, asked)
  if (fit < least) {
    const spentMs = (settings.maxTimeMs ?? 0) - leftMs
    const enough = Math.ceil((spentMs + (least + 1) * timeOf(LEAST_PASSES)) / 10_000) * 10 * shareOf(result)
    throw new TimeError(
      `${fit === 0 ? 'No start' : `Only ${plural(fit, 'start')}`} of each system would fit into --max-time, because one takes ${Math.ceil(timeOf(LEAST_PASSES) / 1000)} s, and ${least} are needed: give it ${enough}s.`,
    )
  }
  if (fillsTime) {
    settings.heats = Math.min(MOST_HEATS, fit)
    settings.looks = planLooks(LEAST_STARTS, settings.heats)
  } else if (fit < asked)
    said.push(`${fit} of ${plural(asked, 'start')} of each system will fit into --max-time.`)
  return said
}

/** Starts after those with open loops are shorter. */
function startsWithin(leftMs: number, result: Result, paces: Paces): number {
  const { settings } = result
  const eachMs = roundMs(result, paces)
  const first = Math.floor(leftMs / eachMs)
  const latencies = latencyHeats({ ...settings, heats: first })
  const leanMs = roundMs({ ...result, settings: { ...settings, openLoop: null } }, paces)
  return first === latencies ? first : latencies + Math.floor((leftMs - latencies * eachMs) / leanMs)
}

/** Of a heat: fewer say too little. */
const LEAST_PASSES = 5

/**
 * Whether open loops leave time for the starts that a verdict takes, and for one more, because a heat often takes longer than expected. A rate
 * that was asked for stays.
 * @param leftMs milliseconds that are left after the pilot
 */
export function fitsLatencies(
  leftMs: number,
  { experiment, cells, settings }: Planned,
  paces: Paces,
): boolean {
  const races = Object.values(experiment.races)
  const isAsked = races.some((race) => !isProbe(race) && race.openRate !== undefined)
  if (isAsked || settings.heats < LEAST_STARTS) return true
  const shortest = { experiment, cells, settings: { ...settings, slices: LEAST_PASSES } }
  return (LEAST_STARTS + 1) * roundMs(shortest, paces) <= leftMs
}

/** Milliseconds without which there cannot be enough starts for a verdict, however fast the systems are. */
export function leastRaceMs({ experiment, ...planned }: Result): number {
  const { minMs } = RACE_SETTINGS.openLoop
  const settings = { ...planned.settings, slices: LEAST_PASSES, openLoop: { minMs, maxMs: minMs } }
  const cells = planned.cells.map((cell) => ({ ...cell, warmupMs: LEAST_WARMUP_MS }))
  const heatsMs = LEAST_STARTS * roundMs({ experiment, cells, settings })
  return LEAST_PILOT_MS * cells.length + heatsMs + ENDING_MS
}
