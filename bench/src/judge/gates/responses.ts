import type { GateResult } from '../../model/figures.ts'
import { type Evidence, failed, passed, unknown } from './evidence.ts'

/** The content of responses was compared during the load, and all of them were right; a neighbour changes nothing about that. */
export function judgeResponses({ launches }: Pick<Evidence, 'launches'>): GateResult {
  const slices = launches.flat()
  if (slices.length === 0) return unknown('responses', 'nothing was measured')
  const wrong = slices.reduce((sum, { errors }) => sum + (errors.body ?? 0), 0)
  const checked = slices.reduce((sum, slice) => sum + slice.checked, 0)
  if (wrong > 0) {
    const finding = `${wrong.toLocaleString('en-US')} responses had another body than expected`
    return failed('responses', finding, 'Compare a response under load with one of a quiet server.')
  }
  if (checked > 0)
    return passed('responses', `${checked.toLocaleString('en-US')} responses were compared, all were right`)
  return failed('responses', 'no response was compared', 'Measure for longer, with --slice or --slices.')
}
