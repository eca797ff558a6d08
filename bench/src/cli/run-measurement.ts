import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import type { RunContext } from '../measure/preparation.ts'
import { commandOfKind, type StoredRun } from '../measure/resume.ts'
import type { Result, ResultKind } from '../model/result.ts'
import { writeResult } from '../model/result-file.ts'
import { documentOf } from '../report/grid.ts'
import { publish } from '../report/output.ts'

interface Measurement<Kind extends Result> {
  json: string | undefined
  download: boolean
  run(context: RunContext<Kind>): Promise<void>
  /** Sentences; none if the exit code is 0. */
  whyFailed(): string[]
}

/** Measures on a stored run until its end or Ctrl-C, then prints and writes what there is. @returns the exit code */
export async function runMeasurement<Kind extends ResultKind>(
  { result, directory }: StoredRun<Kind>,
  { json, download, run, whyFailed }: Measurement<StoredRun<Kind>['result']>,
): Promise<number> {
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const save = (so: Result) => writeResult(`${directory}/result.json`, so)
  await run({ progress, save, signal, download }).finally(progress.stop)
  const hint = result.mode === 'target' ? '' : ` Go on with ${commandOfKind(result.kind)} --resume`
  const closing = signal.aborted
    ? [`Interrupted: what was measured before is above and in the files.${hint}`]
    : whyFailed()
  save(result) // what could not be saved is an error now
  publish(result, { document: documentOf(result), path: `${directory}/report` }, { json, closing })
  if (signal.aborted) return code()
  return closing.length > 0 ? 1 : 0
}
