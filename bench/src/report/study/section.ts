import { formatMs } from '@startgrid/cli/numbers.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Cell } from '../../model/cell.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, StudyFigures } from '../../model/figures.ts'
import type { StudyResult } from '../../model/result.ts'

/** A row: a system in one race, with its figures; undefined if it was skipped. */
export interface Entry {
  cell: Cell
  shown: StudyFigures | undefined
}

export function entriesOf({ analysis }: StudyResult, cells: readonly Cell[]): Entry[] {
  return cells.map((cell) => ({
    cell,
    shown: analysis?.cells.find((one) => one.race === cell.race && one.system === cell.app),
  }))
}

export function isCounted(shown: StudyFigures | undefined): shown is StudyFigures {
  return shown !== undefined && !shown.voided
}

/** Blank where nothing counts. */
export function ifCounted(text: (shown: StudyFigures) => string): (entry: Entry) => string {
  return ({ shown }) => (isCounted(shown) ? text(shown) : '')
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
