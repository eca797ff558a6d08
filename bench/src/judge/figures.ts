import type { Experiment } from '../model/experiment.ts'
import type { StoredResult } from '../model/result.ts'
import { analyse } from './analysis.ts'
import { analyseStudy } from './study/analysis.ts'

/**
 * What follows from what was measured, by the kind of the result: pure, so that a report can be made again.
 * @param experiment of a study: its claims are in no result
 */
export function figuresOf(result: StoredResult, experiment?: Experiment): StoredResult['analysis'] {
  if (result.kind === 'rate') return analyse(result)
  if (experiment === undefined) throw new RangeError('A study is judged with its claims.')
  return analyseStudy(experiment, result)
}
