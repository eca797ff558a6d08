import type { Guard } from '@startgrid/machine/guard.ts'
import { openCommands } from '../environments/command/environment.ts'
import type { EnvironmentOptions } from '../environments/environment.ts'
import { ENDING_MS, MOST_HEATS } from '../experiment/budget.ts'
import { RACE_SETTINGS } from '../experiment/race.ts'
import { expectedRaceMs } from '../experiment/study.ts'
import { analyseStudy } from '../judge/study/analysis.ts'
import { LEAST_STARTS } from '../judge/study/findings.ts'
import { type Experiment, isProbe } from '../model/experiment.ts'
import type { Finding } from '../model/figures.ts'
import type { StudyResult, Warning } from '../model/result.ts'
import { type HeatPlan, runHeats } from './heats.ts'
import { LEAST_PILOT_MS, LEAST_WARMUP_MS, type PilotOptions, pilot } from './pilot.ts'
import { planOf } from './plan.ts'
import { type RunContext, withPreparedRun } from './preparation.ts'

interface RaceRun extends RunContext<StudyResult>, PilotOptions {
  guard: Guard
  /** Of the servers. */
  cores: number
  /** As many starts as there is time for, but not fewer than planned. */
  fillsTime: boolean
  /** Of what was prepared. */
  warnings: readonly Warning[]
}

/**
 * Measures a race of commands: a pilot that does not count, then all heats, in which what it found stays as it is.
 * @throws {PilotError} if the systems cannot be compared
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runRace(
  experiment: Experiment,
  result: StudyResult,
  { guard, cores, fillsTime, warnings, ...context }: RaceRun,
): Promise<void> {
  let known = experiment
  const openRates = new Map<string, number>()
  const preparation = {
    ...context,
    experiment,
    openEnvironment: (options: EnvironmentOptions) => openCommands(experiment, { ...options, guard, cores }),
    figures: (so: StudyResult) => analyseStudy(known, so),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    for (const warning of warnings) prepared.warn(warning)
    for (const [name, race] of Object.entries(known.races)) {
      if (isProbe(race)) continue
      const cells = result.cells.filter((cell) => cell.race === name)
      const found = await pilot(prepared, name, race, cells, context)
      if (found === undefined) return
      known = { ...known, races: { ...known.races, [name]: found.race } }
      openRates.set(name, race.openRate ?? found.openRate)
      result.race?.pilots.push(found.record)
    }
    const asked = result.settings.heats
    const leftMs = prepared.endsAt - performance.now()
    if (!fitsLatencies(leftMs, known, result, openRates)) {
      result.settings.openLoop = null
      context.progress.say(`Latencies are left out: ${LEAST_STARTS} starts of each need all the time.`)
    }
    if (fillsTime) result.settings.heats = startsWithin(leftMs, known, result, openRates)
    const fits = (passes: number) => asked * heatMs(known, result, openRates, passes) <= leftMs
    const { settings } = result
    while (settings.slices > LEAST_PASSES && !fits(settings.slices)) settings.slices -= 1
    await runHeats(prepared, { ...planOfRace(known, prepared, openRates), asked })
  })
}

/** Of a heat: fewer say too little. */
const LEAST_PASSES = 5

/** How many starts fit, not fewer than planned. @param leftMs milliseconds that are left after the pilot */
export function startsWithin(
  leftMs: number,
  experiment: Experiment,
  result: Planned,
  openRates: ReadonlyMap<string, number>,
): number {
  const { settings } = result
  const oneMs = heatMs(experiment, result, openRates, settings.slices)
  return Math.min(MOST_HEATS, Math.max(settings.heats, Math.floor(leftMs / oneMs)))
}

/**
 * Whether open loops leave time for the starts that a verdict takes, and for one more, because a heat often takes longer than expected. A rate
 * that was asked for stays.
 * @param leftMs as of `startsWithin`
 */
export function fitsLatencies(
  leftMs: number,
  experiment: Experiment,
  result: Planned,
  openRates: ReadonlyMap<string, number>,
): boolean {
  const isAsked = Object.values(experiment.races).some(
    (race) => !isProbe(race) && race.openRate !== undefined,
  )
  if (isAsked || result.settings.heats < LEAST_STARTS) return true
  return (LEAST_STARTS + 1) * heatMs(experiment, result, openRates, LEAST_PASSES) <= leftMs
}

type Planned = Pick<StudyResult, 'cells' | 'settings'>

/** What one start of all systems in all races takes. */
function heatMs(
  { races }: Experiment,
  { cells, settings }: Planned,
  openRates: ReadonlyMap<string, number>,
  slices: number,
): number {
  return Object.entries(races).reduce((sum, [name, race]) => {
    const own = cells.filter((cell) => cell.race === name)
    return sum + expectedRaceMs(race, own, { ...settings, slices }, openRates.get(name))
  }, 0)
}

/** Milliseconds without which there cannot be enough starts for a verdict, however fast the systems are. */
export function leastRaceMs({ races }: Experiment, { cells, settings }: StudyResult): number {
  const { minMs } = RACE_SETTINGS.openLoop
  const least = { ...settings, slices: LEAST_PASSES, openLoop: { minMs, maxMs: minMs } }
  return Object.entries(races).reduce((sum, [name, race]) => {
    const own = cells.filter((cell) => cell.race === name)
    const warm = own.map((cell) => ({ ...cell, warmupMs: LEAST_WARMUP_MS }))
    return sum + LEAST_PILOT_MS * own.length + LEAST_STARTS * expectedRaceMs(race, warm, least)
  }, ENDING_MS)
}

/** What the heats of a race are. With a precision, the planned ones are a pilot that says how many there have to be. */
export function planOfRace(
  experiment: Experiment,
  prepared: Omit<Parameters<typeof planOf>[1], 'result'> & { result: StudyResult },
  openRates?: ReadonlyMap<string, number>,
): HeatPlan {
  const { result } = prepared
  const { heats } = result.settings
  const precision = result.race?.precision ?? null
  let needed: number | undefined
  return {
    ...planOf(experiment, prepared, openRates),
    most: precision === null ? heats : MOST_HEATS,
    isEnough: ({ heat }) => {
      if (precision === null || heat <= heats) return false
      needed ??= heatsFor(precision, heats, analyseStudy(experiment, result).findings ?? [])
      return heat > needed
    },
  }
}

/**
 * Heats after which intervals will be as narrow as that, from the spread in the first ones alone. Looking at the difference itself would
 * favour lucky runs (Stein 1945, Annals of Mathematical Statistics 16:243).
 */
function heatsFor(precision: number, heats: number, findings: readonly Finding[]): number {
  const wide = findings.map(({ ratio }) =>
    ratio === null || ratio.low === null || ratio.high === null ? 0 : Math.log(ratio.high / ratio.low) / 2,
  )
  return Math.min(MOST_HEATS, Math.ceil(heats * (Math.max(0, ...wide) / Math.log1p(precision)) ** 2))
}
