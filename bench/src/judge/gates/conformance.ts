import { plural } from '@startgrid/cli/text.ts'
import type { GateResult } from '../../model/figures.ts'
import { type Evidence, failed, notMeant, passed } from './evidence.ts'

/** Equal work first: the contract's suite passes on the cell. */
export function judgeConformance({
  mode,
  cell,
  conformance,
}: Pick<Evidence, 'mode' | 'cell' | 'conformance'>): GateResult {
  if (cell.role === null) return notMeant('conformance', 'no contract covers it')
  if (conformance === null) {
    const advice = `Let a run come to its end${mode === 'native' ? ', or --resume it' : ''}.`
    return failed('conformance', 'the contract was not checked', advice)
  }
  const { checked, differences } = conformance
  const [first] = differences
  if (first === undefined) return passed('conformance', `${plural(checked, 'check')} of the contract passed`)
  const more = differences.length > 1 ? `, and ${plural(differences.length - 1, 'more difference')}` : ''
  const advice =
    mode === 'target'
      ? 'Correct the app, or say what it lacks with --without; --keep-voided shows its figures all the same.'
      : `Correct ${cell.twinOf ?? cell.app}, then measure again.`
  return failed('conformance', `it breaks the contract: ${first}${more}`, advice)
}
