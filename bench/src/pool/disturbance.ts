import { formatPercent } from '@startgrid/cli/numbers.ts'

/** What others may use of the cores before it is said, as a part of 1. */
export const DISTURBED = 0.05

/** @param foreign the most that others used, 0 to 1 */
export function describeDisturbance(foreign: number): string {
  return `Others used up to ${formatPercent(foreign)} of the cores: rates are too low; CPU time tells more.`
}
