import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'

interface Launches<Result> {
  /** Those that were complete. */
  results: Result[]
  /** Of the process: 0, or what the interruption asks for. */
  exitCode: number
}

/**
 * Measures one launch after the other, shows how far it is, and ends early at Ctrl-C.
 * @param expectedMs what all take
 * @param measure is told when to stop and tells how far it is, 0 to 1
 */
export async function measureLaunches<Result>(
  count: number,
  expectedMs: number,
  measure: (signal: AbortSignal, onProgress: (part: number) => void) => Promise<Result>,
): Promise<Launches<Result>> {
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const results: Result[] = []
  progress.begin(expectedMs)
  try {
    while (results.length < count && !signal.aborted) {
      const step = `launch ${results.length + 1} of ${count}`
      const onProgress = (part: number) => progress.update((results.length + part) / count, step)
      onProgress(0)
      results.push(await measure(signal, onProgress))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    progress.stop()
  }
  return { results, exitCode: signal.aborted ? code() : 0 }
}
