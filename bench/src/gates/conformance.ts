import type { GateResult } from '../figures.ts'
import { plural } from '../text.ts'
import type { Evidence } from './evidence.ts'
import { failed, passed } from './verdict.ts'

/** Equal work first: the contract's suite passes on the cell. */
export function judgeConformance({ cell, conformance }: Pick<Evidence, 'cell' | 'conformance'>): GateResult {
  if (conformance === null) {
    return failed('conformance', 'the contract was not checked', 'Let a run come to its end, or --resume it.')
  }
  const { checked, differences } = conformance
  const [first] = differences
  if (first === undefined) return passed('conformance', `${plural(checked, 'check')} of the contract passed`)
  const more = differences.length > 1 ? `, and ${plural(differences.length - 1, 'more difference')}` : ''
  const app = cell.app.replace(/#\d+$/, '')
  return failed(
    'conformance',
    `it breaks the contract: ${first}${more}`,
    `Correct ${app}, then measure again.`,
  )
}
