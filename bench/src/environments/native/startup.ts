import { median } from '@startgrid/stats/moments.ts'
import type { Figures, ProbeContext, System, Workload } from '../../model/experiment.ts'
import { ask } from '../command/request.ts'
import { startSystem } from './systems.ts'

/** Of one probe: the median of three passes over one that read its files from disk, or that somebody disturbed. */
const STARTS = 3

/**
 * Measures how long a system takes from the start of its process to the last byte of its first response.
 * @throws {Error} with a sentence, if it does not start or does not respond with 200
 */
export async function measureStartup(
  system: System,
  { path }: Workload,
  { signal }: Pick<ProbeContext, 'signal'>,
): Promise<Figures> {
  const seconds: number[] = []
  for (let start = 0; start < STARTS; start++) {
    signal.throwIfAborted()
    seconds.push(await startOnce(system, path))
  }
  return { startup: median(seconds) }
}

async function startOnce(system: System, path: string): Promise<number> {
  const beganAt = performance.now()
  const running = await startSystem(system, { nginx: undefined })
  try {
    const { status } = await ask(running.target, { path }, 10_000)
    if (status !== 200) throw new Error(`status ${status}`)
    return (performance.now() - beganAt) / 1000
  } catch (error) {
    throw new Error(`${system.title} did not respond to ${path} after its start.`, { cause: error })
  } finally {
    await running.stop()
  }
}
