import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { Guard } from '@startgrid/machine/guard.ts'
import { createRace, RACE_SETTINGS } from '../../experiment/race.ts'
import { createStudyResult } from '../../experiment/study.ts'
import { runRace } from '../../measure/race.ts'
import { writeStudy } from '../../model/study-file.ts'
import type { StudyResult } from '../../model/study-result.ts'
import { commandOf, prepareOutput, publishRace } from '../../report/output.ts'
import { whyStudyFailed } from '../exit-code.ts'
import { RACE_HELP, type RaceOptions, readRaceOptions, recordOfRace } from '../race-options.ts'

/** `pnpm bench race`: servers that nobody here wrote, compared. @returns the exit code */
export async function raceCommand(args: readonly string[]): Promise<number> {
  const options = readRaceOptions(args)
  if (options.help) {
    process.stdout.write(RACE_HELP)
    return 0
  }
  const directory = prepareOutput(options.output, options.json)
  const experiment = createRace(options)
  const command = commandOf('pnpm bench race', options.words, options.seed)
  const plan = { profile: 'full', asPublished: false, heats: options.heats, seed: options.seed } as const
  const result: StudyResult = {
    ...createStudyResult(experiment, { ...plan, maxTimeMs: options.maxTimeMs }, command),
    race: recordOfRace(options),
  }
  Object.assign(result.settings, RACE_SETTINGS)
  return measure(experiment, result, { options, directory })
}

async function measure(
  experiment: ReturnType<typeof createRace>,
  result: StudyResult,
  { options, directory }: { options: RaceOptions; directory: string },
): Promise<number> {
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const save = (so: StudyResult) => writeStudy(`${directory}/result.json`, so)
  const guard = new Guard()
  try {
    await runRace(experiment, result, { ...options, progress, signal, save, download: false, guard })
  } finally {
    progress.stop()
    await guard.close()
  }
  save(result)
  publishRace(result, directory, options.json)
  if (signal.aborted) return code()
  const failed = whyStudyFailed(result)
  for (const sentence of failed) process.stderr.write(`${sentence}\n`)
  return failed.length > 0 ? 1 : 0
}
