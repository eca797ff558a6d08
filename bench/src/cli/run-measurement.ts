import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { experimentOf } from '../experiment/grid.ts'
import type { Running } from '../measure/plan.ts'
import type { StoredRun } from '../measure/resume.ts'
import { runExperiment } from '../measure/run.ts'
import type { RaceResult } from '../model/result.ts'
import { writeResult } from '../model/result-file.ts'
import { documentOf } from '../report/grid.ts'
import { publish } from '../report/output.ts'

/**
 * Measures on a stored run until its end or Ctrl-C, then prints and writes what there is.
 * @param whyFailed sentences; none if the exit code is 0
 * @returns the exit code
 */
export async function runMeasurement(
  { result, directory }: StoredRun,
  { json, download }: { json: string | undefined; download: boolean },
  how: Running,
  whyFailed: () => string[],
): Promise<number> {
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const save = (so: RaceResult) => writeResult(`${directory}/result.json`, so)
  const context = { progress, save, signal, download, ...how }
  await runExperiment(experimentOf(result), result, context).finally(progress.stop)
  const hint = result.mode === 'target' ? '' : ' Go on with pnpm bench --resume'
  const closing = signal.aborted
    ? [`Interrupted: what was measured before is above and in the files.${hint}`]
    : whyFailed()
  save(result) // what could not be saved is an error now
  await publish(result, { document: documentOf(result), path: `${directory}/report` }, { json, closing })
  if (signal.aborted) return code()
  return closing.length > 0 ? 1 : 0
}
