import type { Guard } from '@startgrid/machine/guard.ts'
import { CommandEnvironment } from '../environments/command/environment.ts'
import type { EnvironmentOptions } from '../environments/environment.ts'
import { analyseStudy } from '../judge/study/analysis.ts'
import { type Experiment, isProbe } from '../model/experiment.ts'
import type { StudyResult } from '../model/study-result.ts'
import { runHeats } from './heats.ts'
import { type PilotOptions, pilot } from './pilot.ts'
import { type RunContext, withPreparedRun } from './preparation.ts'
import { planOfStudy } from './study.ts'

interface RaceRun extends RunContext<StudyResult>, PilotOptions {
  guard: Guard
  /** Of the servers. */
  cores: number
}

/**
 * Measures a race of commands: a pilot that does not count, then all heats, in which what it found stays as it is.
 * @throws {PilotError} if the systems cannot be compared
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runRace(
  experiment: Experiment,
  result: StudyResult,
  { guard, cores, ...context }: RaceRun,
): Promise<void> {
  let known = experiment
  const preparation = {
    ...context,
    openEnvironment: (options: EnvironmentOptions) =>
      new CommandEnvironment(experiment, guard, cores, options),
    figures: (so: StudyResult) => ({ analysis: analyseStudy(known, so) }),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    for (const [name, race] of Object.entries(known.races)) {
      if (isProbe(race)) continue
      const cells = result.cells.filter((cell) => cell.race === name)
      const found = await pilot(prepared, name, race, cells, context)
      if (found === undefined) return
      known = { ...known, races: { ...known.races, [name]: found.race } }
      result.race?.pilots.push(found.record)
    }
    await runHeats(prepared, { ...planOfStudy(known, prepared), keepsWarmup: true })
  })
}
