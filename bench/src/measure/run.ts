import type { Role } from '@startgrid/grid/matrix.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { Spinner } from '@startgrid/machine/spin.ts'
import { createDriver } from '../drivers/create.ts'
import { moreWarmupOf } from '../judge/analysis/cold-cells.ts'
import { analyse, isWithin } from '../judge/analysis.ts'
import type { CellSpec, Heat, Result, ResultKind } from '../model/result.ts'
import { ENDING_MS, heatsThatFit, heatsWithin, type OpenHeat, shareOf } from '../plan/budget.ts'
import { expectedHeatMs, type PlannedHeat, planCells, planHeats, planSelfcheck } from '../plan/cells.ts'
import type { Options } from '../plan/options.ts'
import { modeOf } from '../plan/options.ts'
import { planTarget } from '../plan/target.ts'
import { runHeat } from './heat.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from './preparation.ts'

/** A result without measurements: the plan of a run. */
export function createResult(options: Options, kind: ResultKind, command: string): Result {
  const { profile, custom, slices, sliceMs, pauseMs, precision, maxTimeMs, driver } = options
  const mode = modeOf(options)
  const cells = planOf(options, kind)
  const heats =
    options.timeGiven && !options.heatsGiven && maxTimeMs !== null
      ? heatsWithin(maxTimeMs, { cells, mode, settings: options })
      : options.heats
  return {
    schema: 4,
    kind,
    mode,
    target: options.target === undefined ? null : { origin: options.target, absent: options.absent },
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed: options.seed,
    machine: readMachine(),
    versions: readVersions(),
    nginx: null,
    driver: { name: driver, version: '', ceiling: null },
    settings: {
      profile: custom ? 'custom' : profile,
      heats,
      extensions: 0,
      slices,
      sliceMs,
      pauseMs,
      precision,
      maxTimeMs,
      cores: null,
      p99Ms: null,
    },
    forecast: null,
    warnings: [],
    cells,
    conformance: [],
    heats: [],
    trials: [],
    failures: [],
    analysis: null,
    capacity: null,
    latency: null,
    overload: null,
  }
}

function planOf(options: Options, kind: ResultKind): CellSpec[] {
  if (options.target !== undefined) return planTarget(options)
  return kind === 'selfcheck' ? planSelfcheck(options) : planCells(options)
}

/**
 * Measures what a result lacks: all heats of a new one, the remaining ones of an interrupted one. The result is filled in place.
 * @param keepVoided figures of cells that failed a gate are in the result all the same
 * @throws {LoadError} with a sentence if the driver is not there
 */
export async function runBench(
  result: Result,
  { keepVoided, ...context }: RunContext & { keepVoided: boolean },
): Promise<void> {
  const preparation = {
    ...context,
    createDriver: (options: GeneratorOptions) => createDriver(result.driver.name, options),
    figures: (so: Result) => ({ analysis: analyse(so, { keepVoided }) }),
  }
  await withPreparedRun(result, preparation, async (prepared) => {
    const spinner = await startSpinner(result)
    try {
      await runHeats({ ...prepared, keepVoided, spinner })
    } finally {
      await spinner?.stop()
    }
  })
}

/** Of servers elsewhere, and of those that have no core, nobody can say how fast they just are. */
function startSpinner({ mode, settings: { cores } }: Result): Promise<Spinner> | undefined {
  return mode === 'native' && cores !== null ? Spinner.start(cores.server) : undefined
}

/** What a race works with. */
export interface Race
  extends Pick<PreparedRun, 'result' | 'driver' | 'progress' | 'signal' | 'warn' | 'provenAt' | 'store'> {
  environment: Pick<PreparedRun['environment'], 'startServers'>
  keepVoided: boolean
  spinner: Pick<Spinner, 'spin'> | undefined
}

/** In random order, until all are run, intervals are narrow enough, or time is up. */
export async function runHeats(race: Race): Promise<void> {
  const { result, progress, signal, store } = race
  const { settings } = result
  for (let isFirst = true; ; isFirst = false) {
    const open = openHeats(race).filter(
      (one, _, [first]) => one.heat <= Math.max(settings.heats, first?.heat ?? 0),
    )
    const leftMs = endOf(race) - performance.now()
    const heats = heatsThatFit(open, leftMs)
    const [next] = heats
    if (signal.aborted || open[0] === undefined || isEnough(result, open[0])) return
    if (next === undefined) {
      const { heat } = open[0]
      if (settings.precision === null)
        race.warn({ kind: 'heats-dropped', from: heat, maxTimeMs: settings.maxTimeMs ?? 0 })
      return
    }
    const expectedMs = heats
      .filter(({ heat }) => heat <= settings.heats)
      .reduce((sum, { fullMs }) => sum + fullMs, 0)
    if (isFirst) progress.begin(Math.min(leftMs, expectedMs))
    const step = `${next.role}, heat ${next.heat} of ${Math.max(settings.heats, next.heat)}`
    const total = spentMs(race) + Math.max(expectedMs, next.fullMs)
    const before = spentMs(race)
    await runOne(race, next, {
      endsAt: lastPassAt(shareOf(heats, leftMs)),
      onProgress: (done) => progress.update(Math.min(1, (before + done * next.fullMs) / total), step),
    })
    if (!signal.aborted) store()
  }
}

interface OpenRoleHeat extends PlannedHeat, OpenHeat {}

/** Those of the plan that are not done yet, with what they will take. */
function openHeats(race: Race): OpenRoleHeat[] {
  const { settings, mode } = race.result
  return remainingHeats(race).map((heat) => {
    const cells = validCells(race, heat.role)
    const pace = paceOf(race, heat.role)
    const msOf = (slices: number) =>
      settings.pauseMs + pace * expectedHeatMs(cells, { ...settings, slices }, mode)
    return { ...heat, fullMs: msOf(settings.slices), shortMs: msOf(settings.slices / 2) }
  })
}

/** How much longer the last heat of a role took than expected. */
function paceOf({ result: { heats, cells, settings, mode } }: Race, role: Role): number {
  const last = heats.findLast((one) => one.role === role)
  if (last === undefined) return 1
  const measured = new Set(last.slices.map(({ cell }) => cell))
  const slices = Math.max(1, ...last.slices.map(({ pass }) => pass ?? 0))
  const expectedMs = expectedHeatMs(
    cells.filter(({ id }) => measured.has(id)),
    { ...settings, slices },
    mode,
  )
  return Math.max(1, (last.seconds * 1000) / expectedMs)
}

function spentMs({ result: { heats } }: Race): number {
  return heats.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
}

function remainingHeats(race: Race): PlannedHeat[] {
  const { cells, heats, settings, seed } = race.result
  const roles = [...new Set(cells.map(({ role }) => role))].filter(
    (role) => validCells(race, role).length > 0,
  )
  const done = new Set(heats.map(({ role, heat }) => `${role} ${heat}`))
  const most = settings.precision === null ? settings.heats : MOST_HEATS
  return planHeats(roles, most, seed).filter(({ role, heat }) => !done.has(`${role} ${heat}`))
}

/**
 * What failed stays void: measuring it again would only cost time. But a target may be anybody's app, which keeps the contract nearly:
 * whoever asks for voided figures gets them.
 */
function validCells({ result, keepVoided }: Race, role: Role): CellSpec[] {
  const { mode, cells, heats, conformance } = result
  const ended = heats.flatMap(({ failures }) => failures.map(({ cell }) => cell))
  const wrong = [
    ...conformance.filter(({ differences }) => differences.length > 0).map(({ cell }) => cell),
    ...heats.flatMap(wrongCells),
  ]
  const failed = new Set(mode === 'target' && keepVoided ? ended : [...ended, ...wrong])
  return cells.filter((cell) => cell.role === role && cell.skipped === null && !failed.has(cell.id))
}

function wrongCells({ slices }: Heat): string[] {
  return slices.filter(({ errors }) => Object.keys(errors).length > 0).map(({ cell }) => cell)
}

async function runOne(
  race: Race,
  planned: PlannedHeat,
  course: { endsAt: number; onProgress: (done: number) => void },
): Promise<void> {
  const { result, environment, driver, signal, progress } = race
  const cells = validCells(race, planned.role)
  course.onProgress(0)
  const heat = await runHeat({
    planned,
    cells,
    settings: result.settings,
    mode: result.mode,
    environment,
    driver,
    spinner: race.spinner,
    moreWarmup: moreWarmup(result, planned),
    signal,
    ...course,
  })
  if (signal.aborted) return // half a heat has no launches to compare
  result.heats.push(heat)
  for (const { cell, reason } of heat.failures) progress.say(`${cell} is void: ${reason}.`)
}

/** By what all roles' heats before this one showed. */
function moreWarmup({ cells, heats }: Result, { heat }: PlannedHeat): ReadonlyMap<string, number> {
  const past = heats.filter((one) => one.heat < heat)
  return moreWarmupOf(cells, past)
}

/** `--precision`: it ends once all intervals are narrow. Looking before the sixth heat would favour lucky runs. */
function isEnough({ settings, analysis }: Result, { heat }: PlannedHeat): boolean {
  const { precision, heats } = settings
  if (precision === null || heat <= heats || analysis === null) return false
  return analysis.races.length > 0 && isWithin(analysis, precision)
}

/** `performance.now()` when the last heat has to be over. */
function endOf({ result: { settings }, provenAt }: Race): number {
  return provenAt + (settings.maxTimeMs ?? Number.POSITIVE_INFINITY) - ENDING_MS
}

/** When a heat begins no further pass. */
function lastPassAt(shareMs: number): number {
  return performance.now() + Math.min(LONGEST_HEAT_MS, shareMs - STOP_MS)
}

/** A process that runs longer is another launch than one that was just started. */
const LONGEST_HEAT_MS = 60_000

/** The last pass, and stopping the servers. */
const STOP_MS = 1500

const MOST_HEATS = 100
