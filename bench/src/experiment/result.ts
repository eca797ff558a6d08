import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { type Asked, withoutQueryValues } from '@startgrid/servers/request.ts'
import { type Experiment, isProbe, type System, type Workload } from '../result/experiment.ts'
import type { Result, Settings } from '../result/result.ts'
import { planCells } from './cells.ts'
import { withoutValues } from './command-line.ts'
import {
  PROFILES,
  type ProfileName,
  STUDY_PROFILES,
  type StudyEffort,
  type StudyProfile,
} from './profiles.ts'
import { BESIDE_MS, heatsWithin } from './time.ts'

/** Results without measurements: what a run is going to do. */

/** A profile, and what is given instead of its own. */
interface Effort<Profile extends Settings['profile']> {
  profile: Profile
  heats?: number | undefined
  maxTimeMs?: number | undefined
  seed: number
}

/** Of a race between apps of the grid. */
export function createResult(
  experiment: Experiment,
  { latency, ...effort }: Effort<ProfileName> & { latency: boolean },
  command: string,
): Result {
  const { heats, maxTimeMs, profile } = effort
  const { openLoop, heats: usual, slices, sliceMs } = PROFILES[profile]
  const own = { heats: usual, slices, sliceMs, openLoop: latency ? openLoop : null, maxTimeMs: null }
  const result = planRun(experiment, own, effort, command)
  const { settings } = result
  if ((heats ?? maxTimeMs) !== undefined) settings.profile = 'custom'
  if (heats === undefined && maxTimeMs !== undefined)
    settings.heats = heatsWithin(maxTimeMs - BESIDE_MS, result)
  return result
}

export function createStudyResult(study: Experiment, effort: Effort<StudyProfile>, command: string): Result {
  return planRun(study, STUDY_PROFILES[effort.profile], effort, command)
}

function planRun(
  experiment: Experiment,
  usual: StudyEffort,
  { profile, seed, heats = usual.heats, maxTimeMs }: Effort<Settings['profile']>,
  command: string,
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
    settings: { ...usual, profile, heats, maxTimeMs: maxTimeMs ?? usual.maxTimeMs, cores: null },
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

function toldSystem({ command, running, ready, workload, ...system }: System): System {
  return {
    ...system,
    ...(workload && { workload: toldWorkload(workload) }),
    ...(running && { running: withoutFolder(running) }),
    ...(ready && { ready: toldRequest(ready) }),
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
