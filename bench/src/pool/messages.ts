import type { Figures, ProbeContext } from '../model/study.ts'
import { measurePool } from './measure.ts'

/** So many for each worker that a launch takes a second or two. */
const MESSAGES = { quick: 40_000, full: 200_000 } as const

/** Messages in flight for each worker: enough that none waits, few enough that the queue stays short. */
const IN_FLIGHT_PER_WORKER = 32

/**
 * Measures one launch of qoper8-cp alone, without the delay that the source tuned by hand: a bounded number of messages is in flight.
 * @throws {Error} with a sentence, if the pool does not run
 */
export async function measureMessages(
  { runtime, size }: { runtime: 'node' | 'bun'; size: number },
  { signal, quick, onForeign }: ProbeContext,
): Promise<Figures> {
  const { rate, cpuPerMessage, foreign } = await measurePool(
    {
      library: 'qoper8-cp',
      runtime,
      size,
      messages: quick ? MESSAGES.quick : MESSAGES.full,
      pace: { kind: 'in-flight', count: size * IN_FLIGHT_PER_WORKER },
      tasksPerWorker: 1,
    },
    { signal },
  )
  if (foreign !== null) onForeign(foreign)
  return { rate, ...(cpuPerMessage !== null && { cpu: cpuPerMessage }) }
}
