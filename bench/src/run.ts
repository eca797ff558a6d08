import type { Role } from '@startgrid/grid/matrix.ts'
import { analyse, isWithin } from './analysis.ts'
import { createDriver } from './drivers/create.ts'
import { runHeat } from './heat.ts'
import { describeMachine, readVersions } from './machine.ts'
import type { Options } from './options.ts'
import { expectedHeatMs, type PlannedHeat, planCells, planHeats, planSelfcheck } from './plan.ts'
import { type Equipment, type Surroundings, withEquipment } from './preparation.ts'
import { formatTime } from './progress.ts'
import type { CellSpec, Heat, Result, ResultKind } from './results.ts'
import { plural } from './text.ts'

/** A result without measurements: the plan of a run. */
export function createResult(options: Options, kind: ResultKind, command: string): Result {
  const { profile, custom, heats, slices, sliceMs, until, maxTimeMs, driver } = options
  return {
    schema: 2,
    kind,
    mode: 'native',
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed: options.seed,
    machine: describeMachine(),
    versions: readVersions(),
    nginx: null,
    driver: { name: driver, version: '', ceiling: null },
    settings: {
      profile: custom ? 'custom' : profile,
      heats,
      slices,
      sliceMs,
      until,
      maxTimeMs,
      cores: null,
      p99Ms: null,
    },
    cautions: [],
    cells: kind === 'selfcheck' ? planSelfcheck(options) : planCells(options),
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

/**
 * Measures what a result lacks: all heats of a new one, the remaining ones of an interrupted one. The result is filled in place.
 * @param keepVoided figures of cells that failed a gate are in the result all the same
 * @throws {LoadError} with a sentence if the driver is not there
 */
export async function runBench(
  result: Result,
  { keepVoided, ...surroundings }: Surroundings & { keepVoided: boolean },
): Promise<void> {
  const preparation = {
    ...surroundings,
    createDriver: (options: { cpu: number | undefined }) => createDriver(result.driver.name, options),
    figures: (so: Result) => ({ analysis: analyse(so, { keepVoided }) }),
  }
  await withEquipment(result, preparation, runHeats)
}

/** In random order, until all are run, intervals are narrow enough, or time is up. */
async function runHeats(equipment: Equipment): Promise<void> {
  // Proving the contract, which new code needs once, takes nothing from the race.
  const startedAt = performance.now()
  const { result, progress, signal, store } = equipment
  const heats = remainingHeats(result)
  if (heats.length === 0 || signal.aborted) return
  const expected = heats.map(({ role }) => expectedHeatMs(validCells(result, role), result.settings))
  const planned =
    result.settings.until === null
      ? heats.length
      : heats.filter(({ heat }) => heat <= result.settings.heats).length
  const total = expected.slice(0, planned).reduce((sum, milliseconds) => sum + milliseconds, 0)
  progress.say(`${plural(planned, 'heat')}, about ${formatTime(total)} (minutes:seconds).`)
  progress.begin(total)
  let before = 0
  for (const [index, heat] of heats.entries()) {
    const expectedMs = expected[index] ?? 0
    if (signal.aborted || isEnough(result, heat)) return
    if (isLate(result, heat, performance.now() - startedAt + expectedMs)) {
      equipment.warn({ kind: 'heats-dropped', from: heat.heat, maxTimeMs: result.settings.maxTimeMs ?? 0 })
      return
    }
    const step = `heat ${index + 1} of ${Math.max(planned, index + 1)}: ${heat.role}`
    await runOne(equipment, heat, (done) =>
      progress.update(Math.min(1, (before + done * expectedMs) / total), step),
    )
    store()
    before += expectedMs
  }
}

function remainingHeats(result: Result): PlannedHeat[] {
  const { cells, heats, settings, seed } = result
  const roles = [...new Set(cells.map(({ role }) => role))].filter(
    (role) => validCells(result, role).length > 0,
  )
  const done = new Set(heats.map(({ role, heat }) => `${role} ${heat}`))
  const most = settings.until === null ? settings.heats : MOST_HEATS
  return planHeats(roles, most, seed).filter(({ role, heat }) => !done.has(`${role} ${heat}`))
}

/** What failed stays void: measuring it again would only cost time. */
function validCells({ cells, heats, conformance }: Result, role: Role): CellSpec[] {
  const failed = new Set([
    ...conformance.filter(({ differences }) => differences.length > 0).map(({ cell }) => cell),
    ...heats.flatMap(failedCells),
  ])
  return cells.filter((cell) => cell.role === role && cell.skipped === null && !failed.has(cell.id))
}

function failedCells({ failures, slices }: Heat): string[] {
  const wrong = slices.filter(({ errors }) => Object.keys(errors).length > 0)
  return [...failures.map(({ cell }) => cell), ...wrong.map(({ cell }) => cell)]
}

async function runOne(
  { result, nginx, driver, signal, progress }: Equipment,
  planned: PlannedHeat,
  onProgress: (done: number) => void,
): Promise<void> {
  const { settings } = result
  const cells = validCells(result, planned.role)
  if (cells.length === 0) return
  onProgress(0)
  const heat = await runHeat({
    planned,
    cells,
    settings,
    cores: settings.cores,
    nginx,
    driver,
    signal,
    onProgress,
  })
  if (signal.aborted) return // half a heat has no launches to compare
  result.heats.push(heat)
  for (const { cell, reason } of heat.failures) progress.say(`${cell} is void: ${reason}.`)
}

/** `--until`: it ends once all intervals are narrow. Looking before the sixth heat would favour lucky runs. */
function isEnough({ settings, analysis }: Result, { heat }: PlannedHeat): boolean {
  const { until, heats } = settings
  if (until === null || heat <= heats || analysis === null) return false
  return analysis.races.length > 0 && isWithin(analysis, until)
}

/** Two launches are the least that say anything, so these are run in any case. */
function isLate({ settings: { maxTimeMs } }: Result, { heat }: PlannedHeat, endsAtMs: number): boolean {
  return maxTimeMs !== null && heat > LEAST_HEATS && endsAtMs > maxTimeMs
}

const LEAST_HEATS = 2
const MOST_HEATS = 100
