import type { Cell } from '../model/cell.ts'
import {
  type Experiment,
  isProbe,
  type LoadRace,
  type ProbeRace,
  type PublishedLoad,
} from '../model/experiment.ts'
import type { Mode, StudyResult } from '../model/result.ts'
import type { Settings } from '../model/settings.ts'
import { expectedHeatMs, fitToMachine } from './cells.ts'
import { openLoopsMs } from './open-loop.ts'

/** What a study measures, and how long that takes. */

export type StudyProfile = 'quick' | 'full'

type StudyEffort = Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop' | 'maxTimeMs'>

/** Launches and passes. A full run is for figures that are published; a quick one shows differences of about a factor of 1.3. */
export const STUDY_PROFILES: Readonly<Record<StudyProfile, StudyEffort>> = {
  quick: { heats: 3, slices: 6, sliceMs: 50, openLoop: { minMs: 600, maxMs: 1500 }, maxTimeMs: 300_000 },
  full: { heats: 8, slices: 20, sliceMs: 50, openLoop: { minMs: 1000, maxMs: 3000 }, maxTimeMs: null },
}

/**
 * What a heat takes, in milliseconds, if nothing disturbs it and no system is slow.
 * @param openRate requests per second of its open loops: the more, the shorter they may be. Unknown before anything is measured
 */
export function expectedRaceMs(
  race: LoadRace | ProbeRace,
  cells: readonly Cell[],
  settings: Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop'>,
  { mode = 'native', slowness = 1, openRate }: { mode?: Mode; slowness?: number; openRate?: number } = {},
): number {
  if (isProbe(race)) return race.expectedMs * cells.length
  return expectedHeatMs(cells, settings, mode, slowness) + openLoopsMs(cells, settings, openRate)
}

/** Milliseconds before the run, when its systems are not yet fitted to this machine: of the heats that are left, and of the source's own tools. */
export function plannedStudyMs(
  study: Experiment,
  { settings, heats, cells, published }: StudyResult,
): number {
  const fitted = structuredClone(cells)
  fitToMachine(fitted, null)
  const left = Object.entries(study.races).reduce((sum, [name, race]) => {
    const count = settings.heats - heats.filter((heat) => heat.race === name).length
    const own = fitted.filter((cell) => cell.race === name && cell.skipped === null)
    return sum + count * expectedRaceMs(race, own, settings)
  }, 0)
  const tools = published === null ? 0 : expectedPublishedMs(study, settings.profile === 'quick')
  return Math.min(left, settings.maxTimeMs ?? left) + tools
}

/** With `--quick`, so many seconds at most. */
const QUICK_SECONDS = 3
const START_MS = 1500

/** What one run of a source's own tool takes. */
export function publishedSeconds({ seconds }: PublishedLoad, quick: boolean): number {
  return quick ? Math.min(QUICK_SECONDS, seconds) : seconds
}

/** Milliseconds. */
function expectedPublishedMs(study: Experiment, quick: boolean): number {
  return (study.published ?? []).reduce((sum, load) => {
    const runs = load.connections.length * publishedSeconds(load, quick) * 1000
    return sum + publishedSystems(study, load).length * (START_MS + runs)
  }, 0)
}

export function publishedSystems({ races }: Experiment, { race, systems }: PublishedLoad): readonly string[] {
  return systems ?? races[race]?.systems ?? []
}
