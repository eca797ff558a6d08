import { UsageError } from '@startgrid/cli/arguments.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { formatMinutes } from '@startgrid/cli/numbers.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { plural, wrap } from '@startgrid/cli/text.ts'
import { LEAST_HEATS, leastTimeMs } from '../../experiment/budget.ts'
import { expectedHeatMs, planHeats } from '../../experiment/cells.ts'
import { gridExperiment } from '../../experiment/grid.ts'
import { createResult } from '../../experiment/result.ts'
import { runExperiment } from '../../measure/run.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { Result } from '../../model/result.ts'
import { writeResult } from '../../model/result-file.ts'
import { commandOf, prepareOutput, writeReports } from '../../report/output.ts'
import { describeReach } from '../../report/provenance.ts'
import { INTERRUPTED, whyRunFailed } from '../exit-code.ts'
import { type Options, readOptions } from '../options.ts'

/** `pnpm bench`: races cells in heats. @returns the exit code */
export async function gridCommand(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  const experiment = gridExperiment(options)
  const result = createResult(experiment, options, commandOf('pnpm bench', args, options.seed))
  if (options.maxTimeMs !== null) assertFits(result)
  if (options.dryRun) process.stdout.write(describePlan(result))
  else return race(experiment, result, options)
  return 0
}

/** @throws {UsageError} if the time is too short for two heats of every role */
function assertFits({ cells, settings }: Result): void {
  const maxTimeMs = settings.maxTimeMs ?? Number.POSITIVE_INFINITY
  const leastMs = leastTimeMs({ cells, settings })
  if (maxTimeMs >= leastMs || settings.heats < LEAST_HEATS) return
  throw new UsageError(
    `--max-time ${Math.floor(maxTimeMs / 1000)}s is too short for two heats of every role, without which there are no intervals: ` +
      `give it at least ${Math.ceil(leastMs / 1000)}s, or fewer apps with --only.`,
  )
}

/** Measures until the end or an interruption, and reports what there is. */
async function race(experiment: Experiment, result: Result, options: Options): Promise<number> {
  const { output, json, download } = options
  const directory = prepareOutput(output, json)
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const save = (so: Result) => writeResult(`${directory}/result.json`, so)
  const context = { progress, save, signal, download }
  await runExperiment(experiment, result, context).finally(progress.stop)
  save(result) // what could not be saved is an error now
  const closing = signal.aborted ? [INTERRUPTED] : whyRunFailed(result)
  await writeReports(result, `${directory}/report`, { json, closing })
  if (signal.aborted) return code()
  return closing.length > 0 ? 1 : 0
}

/** What the search for NGINX takes, and a look at the machine, in milliseconds. */
const PREPARATION_MS = 3000

const PROOF_COMES_FIRST =
  'The first run on new code also proves the contract of every cell: up to half a minute more.'

/** What a race would do, and how long it takes: `--dry-run`. */
export function describePlan(result: Result): string {
  const { cells, settings } = result
  const { maxTimeMs } = settings
  const byRole = Map.groupBy(cells, ({ race }) => race)
  const total = [...byRole.values()].reduce((sum, own) => sum + roleMs(own, result), PREPARATION_MS)
  const slower =
    maxTimeMs === null
      ? 'A slower machine takes longer'
      : `A slower machine takes fewer heats, to end within ${formatMinutes(maxTimeMs)}`
  const reach = settings.profile === 'custom' ? null : describeReach(result)
  return [
    ...describeRoles(result, byRole),
    wrap(`About ${formatMinutes(total)} (minutes:seconds) on two cores, if nobody disturbs it. ${slower}.`),
    wrap(PROOF_COMES_FIRST),
    ...(reach === null ? [] : [wrap(reach)]),
    '',
  ].join('\n')
}

function describeRoles(result: Result, byRole: ReadonlyMap<string, readonly Cell[]>): string[] {
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

function roleMs(cells: readonly Cell[], { settings }: Result): number {
  const heatMs = expectedHeatMs(cells, settings)
  return settings.heats * heatMs
}
