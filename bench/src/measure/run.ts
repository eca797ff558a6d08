import { formatMinutes } from '@startgrid/cli/duration.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Role } from '@startgrid/grid/matrix.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { Spinner } from '@startgrid/machine/spin.ts'
import { createDriver } from '../drivers/create.ts'
import { moreWarmupOf } from '../judge/analysis/cold-cells.ts'
import { analyse, isWithin } from '../judge/analysis.ts'
import type { CellSpec, Heat, Result, ResultKind } from '../model/result.ts'
import { expectedHeatMs, type PlannedHeat, planCells, planHeats, planSelfcheck } from '../plan/cells.ts'
import type { Options } from '../plan/options.ts'
import { modeOf } from '../plan/options.ts'
import { planTarget } from '../plan/target.ts'
import { runHeat } from './heat.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from './preparation.ts'

/** A result without measurements: the plan of a run. */
export function createResult(options: Options, kind: ResultKind, command: string): Result {
  const { profile, custom, heats, slices, sliceMs, pauseMs, until, maxTimeMs, driver } = options
  return {
    schema: 4,
    kind,
    mode: modeOf(options),
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
      slices,
      sliceMs,
      pauseMs,
      until,
      maxTimeMs,
      cores: null,
      p99Ms: null,
    },
    warnings: [],
    cells: planOf(options, kind),
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

interface Race extends PreparedRun {
  keepVoided: boolean
  spinner: Spinner | undefined
}

/** In random order, until all are run, intervals are narrow enough, or time is up. */
async function runHeats(prepared: Race): Promise<void> {
  const { result, progress, signal, store } = prepared
  const heats = remainingHeats(prepared)
  if (heats.length === 0 || signal.aborted) return
  const expected = heats.map(
    ({ role }) =>
      result.settings.pauseMs + expectedHeatMs(validCells(prepared, role), result.settings, result.mode),
  )
  const planned =
    result.settings.until === null
      ? heats.length
      : heats.filter(({ heat }) => heat <= result.settings.heats).length
  const total = expected.slice(0, planned).reduce((sum, milliseconds) => sum + milliseconds, 0)
  progress.say(`${plural(planned, 'heat')}, about ${formatMinutes(total)} (minutes:seconds).`)
  progress.begin(total)
  let before = 0
  for (const [index, heat] of heats.entries()) {
    const expectedMs = expected[index] ?? 0
    if (signal.aborted || isEnough(result, heat)) return
    if (isLate(prepared, heat, expectedMs)) {
      prepared.warn({ kind: 'heats-dropped', from: heat.heat, maxTimeMs: result.settings.maxTimeMs ?? 0 })
      return
    }
    const step = `heat ${index + 1} of ${Math.max(planned, index + 1)}: ${heat.role}`
    await runOne(prepared, heat, (done) =>
      progress.update(Math.min(1, (before + done * expectedMs) / total), step),
    )
    store()
    before += expectedMs
  }
}

function remainingHeats(race: Race): PlannedHeat[] {
  const { cells, heats, settings, seed } = race.result
  const roles = [...new Set(cells.map(({ role }) => role))].filter(
    (role) => validCells(race, role).length > 0,
  )
  const done = new Set(heats.map(({ role, heat }) => `${role} ${heat}`))
  const most = settings.until === null ? settings.heats : MOST_HEATS
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

async function runOne(race: Race, planned: PlannedHeat, onProgress: (done: number) => void): Promise<void> {
  const { result, environment, driver, signal, progress } = race
  const { settings } = result
  const cells = validCells(race, planned.role)
  if (cells.length === 0) return
  onProgress(0)
  const heat = await runHeat({
    planned,
    cells,
    settings,
    mode: result.mode,
    environment,
    driver,
    spinner: race.spinner,
    moreWarmup: moreWarmup(result, planned),
    endsAt: lastPassAt(race, planned),
    signal,
    onProgress,
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

/** `--until`: it ends once all intervals are narrow. Looking before the sixth heat would favour lucky runs. */
function isEnough({ settings, analysis }: Result, { heat }: PlannedHeat): boolean {
  const { until, heats } = settings
  if (until === null || heat <= heats || analysis === null) return false
  return analysis.races.length > 0 && isWithin(analysis, until)
}

/** Two launches are the least that say anything: these are shortened, and not dropped. A heat takes about as long as the last one of its role. */
function isLate(race: Race, { heat, role }: PlannedHeat, expectedMs: number): boolean {
  const last = race.result.heats.findLast((one) => one.role === role)
  const likelyMs = last === undefined ? expectedMs : last.seconds * 1000
  return heat > LEAST_HEATS && performance.now() + likelyMs > endOf(race)
}

/** `performance.now()` when time is up. */
function endOf({ result: { settings }, provenAt }: Race): number {
  return provenAt + (settings.maxTimeMs ?? Number.POSITIVE_INFINITY)
}

/** When a heat begins no further pass. The heats that are never dropped share what is left of the time. */
function lastPassAt(race: Race, { heat }: PlannedHeat): number {
  const now = performance.now()
  const roles = new Set(race.result.cells.map(({ role }) => role)).size
  const left = Math.max(1, roles * LEAST_HEATS - race.result.heats.length)
  const shareMs = heat > LEAST_HEATS ? endOf(race) - now : (endOf(race) - now) / left
  return now + Math.min(LONGEST_HEAT_MS, shareMs - STOP_MS)
}

/** A process that runs longer is another launch than one that was just started. */
const LONGEST_HEAT_MS = 60_000

/** The last pass, and stopping the servers. */
const STOP_MS = 3000

const LEAST_HEATS = 2
const MOST_HEATS = 100
