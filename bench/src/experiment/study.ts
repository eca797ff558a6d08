import type { Cell } from '../result/cell.ts'
import { type Experiment, isProbe, type LoadRace, type ProbeRace, type Race } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'
import type { Settings } from '../result/settings.ts'
import { expectedHeatMs, fitToMachine } from './cells.ts'

/** What a study measures, and how long that takes. */

export type StudyProfile = 'quick' | 'full'

type StudyEffort = Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop' | 'maxTimeMs'>

/** Launches and passes. A full run is for figures that are published; a quick one shows differences of about a factor of 1.3. */
export const STUDY_PROFILES: Readonly<Record<StudyProfile, StudyEffort>> = {
  quick: { heats: 3, slices: 6, sliceMs: 50, openLoop: { minMs: 600, maxMs: 1500 }, maxTimeMs: 300_000 },
  full: { heats: 8, slices: 20, sliceMs: 50, openLoop: { minMs: 1000, maxMs: 3000 }, maxTimeMs: null },
}

/** What a heat takes, in milliseconds: of a probe what it says, of load as of `expectedHeatMs`. */
export function expectedRaceMs(
  race: LoadRace | ProbeRace,
  cells: readonly Cell[],
  settings: Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop'>,
  openRate?: number,
): number {
  if (isProbe(race)) return race.expectedMs * cells.length
  return expectedHeatMs(cells, settings, openRate)
}

/** Milliseconds before the run, when its systems are not yet fitted to this machine: of the heats that are left. */
export function plannedMs({ races }: Experiment, { settings, heats, cells }: Result): number {
  const fitted = structuredClone(cells)
  fitToMachine(fitted, null)
  const left = Object.entries(races).reduce((sum, [name, race]) => {
    const count = settings.heats - heats.filter((heat) => heat.race === name).length
    const own = fitted.filter((cell) => cell.race === name && cell.skipped === null)
    return sum + count * expectedRaceMs(race, own, settings)
  }, 0)
  return Math.min(left, settings.maxTimeMs ?? left)
}

/** What is measured of a study: the source's own commands that no claim is about only with `--as-published`, which runs nothing else. */
export function chooseRaces<Kind extends Experiment>(study: Kind, asPublished: boolean): Kind {
  const decisive = new Set(study.claims.flatMap(({ race, against = race }) => [race, against]))
  const chosen = ([name, race]: [string, Race]) => {
    const isTool = isProbe(race) && race.tool !== undefined
    return asPublished ? isTool : !isTool || decisive.has(name)
  }
  const races = Object.fromEntries(Object.entries(study.races).filter(chosen))
  const has = ({ race, against = race }: { race: string; against?: string }) =>
    races[race] !== undefined && races[against] !== undefined
  const { claims, steps = [] } = study
  return { ...study, races, claims: claims.filter(has), steps: steps.filter(has) }
}
