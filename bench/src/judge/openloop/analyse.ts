import type { OpenLoopResult } from '../../model/result.ts'
import { capacityFigures } from './capacity-figures.ts'
import { latencyFigures } from './latency-figures.ts'
import { overloadFigures } from './overload-figures.ts'

/** What follows from the trials of a result, by its kind; pure, so that a report can be made again. */
export function analyseOpenLoop(result: OpenLoopResult): OpenLoopResult {
  switch (result.kind) {
    case 'capacity':
      return { ...result, analysis: capacityFigures(result) }
    case 'latency':
      return { ...result, analysis: latencyFigures(result) }
    case 'overload':
      return { ...result, analysis: overloadFigures(result) }
  }
}
