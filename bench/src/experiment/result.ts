import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import {
  type Asked,
  type Experiment,
  isProbe,
  type System,
  type Workload,
  withoutQueryValues,
} from '../result/experiment.ts'
import type { Result, Settings } from '../result/result.ts'
import { planCells } from './cells.ts'
import { withoutValues } from './command-line.ts'
import { PROFILES, type ProfileName, STUDY_PROFILES, type StudyProfile } from './profiles.ts'
import { heatsWithin } from './time.ts'

/** Results without measurements: what a run is going to do. */

/** How much of a profile, if something of it is given otherwise. */
interface GridEffort {
  profile: ProfileName
  custom: boolean
  heats: number
  heatsGiven: boolean
  latency: boolean
  maxTimeMs: number | null
  seed: number
}

/** Of a race between apps of the grid. */
export function createResult(experiment: Experiment, effort: GridEffort, command: string): Result {
  const { heats, heatsGiven, maxTimeMs, profile, custom, latency, seed } = effort
  const { slices, sliceMs, openLoop } = PROFILES[profile]
  const result = planRun(experiment, seed, command, {
    profile: custom ? 'custom' : profile,
    heats,
    slices,
    sliceMs,
    maxTimeMs,
    openLoop: latency ? openLoop : null,
  })
  if (!heatsGiven && maxTimeMs !== null) result.settings.heats = heatsWithin(maxTimeMs, result)
  return result
}

interface StudyEffort {
  profile: StudyProfile
  /** Instead of the profile's. */
  heats: number | undefined
  maxTimeMs?: number | undefined
  seed: number
}

export function createStudyResult(study: Experiment, options: StudyEffort, command: string): Result {
  const { profile, seed } = options
  const effort = STUDY_PROFILES[profile]
  return planRun(study, seed, command, {
    ...effort,
    profile,
    heats: options.heats ?? effort.heats,
    maxTimeMs: options.maxTimeMs ?? effort.maxTimeMs,
  })
}

function planRun(
  experiment: Experiment,
  seed: number,
  command: string,
  settings: Omit<Settings, 'cores'>,
): Result {
  return {
    schema: 7,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    experiment: toldOf(experiment),
    seed,
    machine: readMachine(),
    versions: readVersions(),
    nginx: null,
    settings: { cores: null, ...settings },
    stolen: 0,
    enoughMs: null,
    warnings: [],
    cells: planCells(experiment),
    conformance: [],
    pilots: [],
    heats: [],
    analysis: null,
  }
}

/**
 * What is stored of an experiment, as it is read again: no value of a flag, variable, header, body or query, no directory of the machine, and no
 * function.
 */
export function toldOf(experiment: Experiment): Experiment {
  const races = Object.entries(experiment.races).map(([name, race]) => [
    name,
    isProbe(race) ? race : { ...race, workload: toldWorkload(race.workload), workloads: undefined },
  ])
  const systems = Object.entries(experiment.systems).map(([name, one]) => [name, toldSystem(one)])
  const told = { ...experiment, systems: Object.fromEntries(systems), races: Object.fromEntries(races) }
  return JSON.parse(JSON.stringify(told))
}

function toldSystem({ command, running, workload, ...system }: System): System {
  return {
    ...system,
    ...(workload && { workload: toldWorkload(workload) }),
    ...(running && { running: withoutFolder(running) }),
    ...(command && {
      command: { command: withoutValues(command.command), directory: '', ready: toldRequest(command.ready) },
    }),
  }
}

/** `unix:…/app.sock` */
export function withoutFolder(origin: string): string {
  return origin.replace(/^unix:.*(?=\/)/, 'unix:…')
}

function toldWorkload({ mix, ...asked }: Workload): Workload {
  return {
    ...asked,
    ...toldRequest(asked),
    expect: {},
    ...(mix && {
      mix: mix.map(({ path, weight }) => ({ path: withoutQueryValues(path), weight, expect: {} })),
    }),
  }
}

/** With the names of its headers. */
function toldRequest({ path, method, headers, body }: Asked): Asked {
  const names = Object.keys(headers ?? {})
  return {
    path: withoutQueryValues(path),
    ...(method && { method }),
    ...(names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, '…'])) }),
    ...(body !== undefined && { body: '…' }),
  }
}
