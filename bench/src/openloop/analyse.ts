import type { Result } from '../model/result.ts'
import { capacityFigures } from './capacity-figures.ts'
import { latencyFigures } from './latency-figures.ts'
import { overloadFigures } from './overload-figures.ts'

/** What follows from the trials of a result, by its kind; pure, so that a report can be made again. Null is what it is not about. */
export function analyseOpenLoop(result: Result): Pick<Result, 'capacity' | 'latency' | 'overload'> {
  return {
    capacity: result.kind === 'capacity' ? capacityFigures(result) : null,
    latency: result.kind === 'latency' ? latencyFigures(result) : null,
    overload: result.kind === 'overload' ? overloadFigures(result) : null,
  }
}
