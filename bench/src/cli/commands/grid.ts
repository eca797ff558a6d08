import { UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes } from '@startgrid/cli/duration.ts'
import { plural, wrap } from '@startgrid/cli/text.ts'
import { assertResponding } from '../../environments/running/origin.ts'
import { heatsWithin, LEAST_HEATS, leastTimeMs, passesWithin } from '../../experiment/budget.ts'
import { expectedHeatMs, planHeats } from '../../experiment/cells.ts'
import { openLoopsMs } from '../../experiment/open-loop.ts'
import type { Options } from '../../experiment/options.ts'
import { createResult } from '../../experiment/result.ts'
import { extendRun, findRun, pauseOf, type StoredRun } from '../../measure/resume.ts'
import type { Cell } from '../../model/cell.ts'
import type { RaceResult } from '../../model/result.ts'
import { commandOf, prepareOutput, publishRace } from '../../report/output.ts'
import { describeReach } from '../../report/provenance.ts'
import { whyRaceFailed } from '../exit-code.ts'
import { readOptions } from '../options.ts'
import { runMeasurement } from '../run-measurement.ts'

/** `pnpm bench`: races cells in heats. @returns the exit code */
export async function gridCommand(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  const planned = () => createResult(options, '')
  if (options.timeGiven && options.resume === undefined) assertFits(planned())
  if (options.list)
    process.stdout.write(
      planned()
        .cells.map(({ id }) => `${id}\n`)
        .join(''),
    )
  else if (options.dryRun) process.stdout.write(describePlan(planned()))
  else return race(options, await prepare(options, args))
  return 0
}

/** @throws {UsageError} if the time is too short for two heats of every role */
function assertFits({ cells, settings, mode }: RaceResult): void {
  const maxTimeMs = settings.maxTimeMs ?? Number.POSITIVE_INFINITY
  const leastMs = leastTimeMs({ cells, settings, mode })
  if (maxTimeMs >= leastMs || settings.heats < LEAST_HEATS) return
  throw new UsageError(
    `--max-time ${Math.floor(maxTimeMs / 1000)}s is too short for two heats of every role, without which there are no intervals: ` +
      `give it at least ${Math.ceil(leastMs / 1000)}s, or fewer apps with --only.`,
  )
}

async function prepare(options: Options, args: readonly string[]): Promise<StoredRun> {
  const { resume, target, seed, output, json } = options
  if (resume !== undefined) return goOn(resume, options)
  if (target !== undefined) await assertResponding(target)
  const result = createResult(options, commandOf('pnpm bench', args, seed))
  return { result, directory: prepareOutput(output, json) }
}

/** A complete run gets more heats: those that were asked for, those that fit into the time, or as many as it had. */
function goOn(resume: string, { timeGiven, maxTimeMs, heatsGiven, heats }: Options): StoredRun {
  const found = findRun(resume)
  const { result } = found
  if (timeGiven) result.settings.maxTimeMs = maxTimeMs
  if (result.finishedAt === null) result.warnings.push(pauseOf(result))
  else {
    const fitting = timeGiven && maxTimeMs !== null ? heatsWithin(maxTimeMs, result) : undefined
    extendRun(result, heatsGiven ? heats : fitting)
  }
  return found
}

async function race(options: Options, stored: StoredRun): Promise<number> {
  const { result } = stored
  const { keepVoided, require } = options
  const code = await runMeasurement(stored, options, { keepVoided }, () => whyRaceFailed(result, require))
  if (options.publish && code === 0) publishRace(result)
  return code
}

/** What the ceiling and the search for NGINX take, in milliseconds. */
const PREPARATION_MS = 3000

const PROOF_COMES_FIRST =
  'The first run on new code also proves the contract of every cell: up to half a minute more.'

/** What a race would do, and how long it takes: `--dry-run`. */
export function describePlan(result: RaceResult): string {
  const { mode, cells, settings } = result
  const { precision, maxTimeMs } = settings
  const byRole = Map.groupBy(cells, ({ race }) => race)
  const total = [...byRole.values()].reduce((sum, own) => sum + roleMs(own, result), PREPARATION_MS)
  const ends =
    precision === null ? '' : ` More heats follow until 95 % intervals are within ±${precision * 100} %.`
  const passes = maxTimeMs === null ? settings.slices : passesWithin(maxTimeMs, result, settings.heats)
  const fewer =
    passes < settings.slices
      ? ` All passes would take ${formatMinutes(total)}: about ${passes} of ${settings.slices} fit, --max-time gives more.`
      : ''
  const limit =
    maxTimeMs === null
      ? ''
      : `${fewer} A slower machine takes fewer passes, then fewer heats, to end within ${formatMinutes(maxTimeMs)}.`
  const cores = mode === 'target' ? '' : ' on two cores, if nobody disturbs it'
  const reach = settings.profile === 'custom' ? null : describeReach(result)
  return [
    ...(mode === 'target' ? [describeTarget(result)] : describeRoles(result, byRole)),
    wrap(
      `About ${formatMinutes(Math.min(total, maxTimeMs ?? total))} (minutes:seconds)${cores}.${ends}${limit}`,
    ),
    wrap(
      mode === 'target' ? 'The contract is proven first, each time: some seconds more.' : PROOF_COMES_FIRST,
    ),
    ...(reach === null ? [] : [wrap(reach)]),
    '',
  ].join('\n')
}

function describeTarget({ target, cells, settings }: RaceResult): string {
  const { profile, heats, slices, sliceMs, pauseMs } = settings
  return wrap(
    `${cells[0]?.workload} at ${target?.origin}: ${plural(heats, 'heat')} of ${slices} × ${sliceMs} ms, ${pauseMs / 1000} s apart, ` +
      `profile ${profile}.`,
  )
}

function describeRoles(result: RaceResult, byRole: ReadonlyMap<string, readonly Cell[]>): string[] {
  const { cells, settings, seed } = result
  const { profile, heats, slices, sliceMs } = settings
  const roles = [...byRole].map(([role, own]) => {
    const launches = plural(new Set(own.map(({ app }) => app)).size, 'launch').replace('launchs', 'launches')
    const ms = roleMs(own, result)
    return (
      `  ${role.padEnd(7)} ${plural(own.length, 'cell')} of ${launches}, ` +
      `${plural(heats, 'heat')} of ${formatMinutes(ms / heats)}, ${formatMinutes(ms)}`
    )
  })
  const order = planHeats([...byRole.keys()], heats, seed).map(({ race }) => race)
  return [
    `${plural(cells.length, 'cell')}, ${slices} × ${sliceMs} ms per cell and heat, profile ${profile}:`,
    ...roles,
    '',
    wrap(`Heats in this order (seed ${seed}): ${order.join(', ')}.`),
  ]
}

function roleMs(cells: readonly Cell[], { mode, settings }: RaceResult): number {
  const heatMs = expectedHeatMs(cells, settings, mode) + openLoopsMs(cells, settings)
  return settings.heats * (settings.pauseMs + heatMs)
}
