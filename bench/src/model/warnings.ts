import type { MachineWarning } from '@startgrid/machine/state.ts'

/** What a reader of a result must know: what is the matter and what to do, in a sentence or two. */
export interface Warning {
  kind: MachineWarning['kind'] | 'tools' | 'time' | 'not-saved' | (typeof DERIVED)[number]
  text: string
}

/** These follow from the figures, and are found again with them. All others were seen while it ran. */
const DERIVED = ['shared-core', 'external', 'accounting', 'disturbed', 'suspect'] as const

/** What was seen while it ran. */
export function observedOf(warnings: readonly Warning[]): Warning[] {
  return warnings.filter(({ kind }) => !DERIVED.some((one) => one === kind))
}
