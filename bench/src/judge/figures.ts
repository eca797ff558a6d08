import type { Experiment } from '../model/experiment.ts'
import type { StoredResult } from '../model/result.ts'
import { analyse } from './analysis.ts'
import { analyseStudy } from './study/analysis.ts'

interface Judging {
  /** Of a study: its claims are in no result. */
  experiment?: Experiment
  /** Figures of cells that failed a gate are given all the same. */
  keepVoided?: boolean
}

/** What follows from what was measured, by the kind of the result: pure, so that a report can be made again. */
export function figuresOf(
  result: StoredResult,
  { experiment, keepVoided = false }: Judging,
): StoredResult['analysis'] {
  if (result.kind === 'rate') return analyse(result, { keepVoided })
  if (experiment === undefined) throw new RangeError('A study is judged with its claims.')
  return analyseStudy(experiment, result)
}
