import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import type { Cell } from '../model/cell.ts'
import type { Experiment } from '../model/experiment.ts'
import type { RaceResult, Run, StudyResult } from '../model/result.ts'
import type { Settings } from '../model/settings.ts'
import { heatsWithin } from './budget.ts'
import { planCells } from './cells.ts'
import type { Options } from './options.ts'
import { PROFILES } from './profiles.ts'
import { STUDY_PROFILES, type StudyProfile } from './study.ts'

/** Results without measurements: what a run is going to do. */

/** Of a race between apps of the grid. */
export function createResult(experiment: Experiment, options: Options, command: string): RaceResult {
  const { heatsGiven, maxTimeMs, profile, custom, latency } = options
  const { heats, slices, sliceMs } = options
  const settings = {
    profile: custom ? ('custom' as const) : profile,
    ...{ heats, slices, sliceMs, maxTimeMs },
    openLoop: latency ? PROFILES[profile].openLoop : null,
  }
  const run = planRun(planCells(experiment), { ...options, settings }, command)
  if (!heatsGiven && maxTimeMs !== null) run.settings.heats = heatsWithin(maxTimeMs, run)
  return { ...run, kind: 'rate', analysis: null }
}

interface StudyOptions {
  profile: StudyProfile
  /** Instead of the profile's. */
  heats: number | undefined
  maxTimeMs?: number | undefined
  seed: number
}

export function createStudyResult(study: Experiment, options: StudyOptions, command: string): StudyResult {
  const { profile, seed } = options
  const effort = STUDY_PROFILES[profile]
  const settings = {
    ...{ ...effort, profile },
    heats: options.heats ?? effort.heats,
    maxTimeMs: options.maxTimeMs ?? effort.maxTimeMs,
  }
  return {
    ...planRun(planCells(study), { seed, settings }, command),
    ...{ kind: 'study', study: study.name, analysis: null },
  }
}

function planRun(
  cells: Cell[],
  {
    seed,
    settings,
  }: {
    seed: number
    settings: Pick<Settings, 'profile' | 'heats' | 'slices' | 'sliceMs' | 'maxTimeMs'> & Partial<Settings>
  },
  command: string,
): Omit<Run, 'kind'> {
  return {
    schema: 6,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed,
    machine: readMachine(),
    versions: readVersions(),
    nginx: null,
    settings: {
      cores: null,
      openLoop: null,
      ...settings,
    },
    ...{ stolen: 0, enoughMs: null, warnings: [] },
    cells,
    conformance: [],
    heats: [],
  }
}
