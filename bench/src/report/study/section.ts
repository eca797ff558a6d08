import { formatMs } from '@startgrid/cli/numbers.ts'
import type { Column } from '@startgrid/cli/table.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, StudyFigures } from '../../model/figures.ts'
import type { Cell, StudyResult } from '../../model/result.ts'

/** A column of words. */
export const name = (heading: string): Column => ({ heading, align: 'left', priority: 0 })
/** A column of figures. */
export const figure = (heading: string, priority = 0): Column => ({ heading, align: 'right', priority })

/** Of one system in one race; undefined if it was skipped. */
export function figuresOf({ analysis }: StudyResult, { race, app }: Cell): StudyFigures | undefined {
  return analysis?.cells.find((one) => one.race === race && one.system === app)
}

/** As milliseconds; nothing where it was not measured. */
export function formatSeconds(of: Interval | undefined): string {
  return of === undefined ? '' : formatMs(of.value * 1000)
}

/** How many cores an undecided claim needs, that of the generator included; null if this machine has them. */
export function missingCores(
  { race, over, under, verdict }: ClaimResult,
  cells: readonly Cell[],
): number | null {
  const small = cells.filter(
    ({ race: own, app, cores }) =>
      own === race && (app === over || app === under) && cores.given < cores.wanted,
  )
  if (verdict !== 'undecided here' || small.length === 0) return null
  return Math.max(...small.map(({ cores, workload }) => cores.wanted + (workload === null ? 0 : 1)))
}

/** `express 4 → 5.3.0, fastify 4 → 5.12.8`: the source's versions and ours; null if the source names none. */
export function describeVersions({ source }: Study, { versions: { packages } }: StudyResult): string | null {
  const changes = Object.entries(source?.versions ?? {}).map(
    ([name, theirs]) => `${name} ${theirs} → ${packages[name] ?? 'unknown'}`,
  )
  return changes.length === 0 ? null : changes.join(', ')
}
