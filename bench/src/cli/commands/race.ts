import { UsageError } from '@startgrid/cli/arguments.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { wrap } from '@startgrid/cli/text.ts'
import { assertAnswering } from '../../environments/target/origin.ts'
import { findUnfinished, pauseOf, type Unfinished } from '../../measure/resume.ts'
import { createResult, runBench } from '../../measure/run.ts'
import type { Result } from '../../model/result.ts'
import { writeResult } from '../../model/result-file.ts'
import { LEAST_HEATS, leastTimeMs } from '../../plan/budget.ts'
import type { Options } from '../../plan/options.ts'
import { commandOf, prepareOutput, publish } from '../../report/output.ts'
import { describePlan } from '../dry-run.ts'
import { whyRaceFailed } from '../exit-code.ts'
import { HELP } from '../help.ts'
import { readOptions } from '../options.ts'

type Kind = 'rate' | 'selfcheck'

/** `pnpm bench` and `pnpm bench selfcheck`: races cells in heats. @returns the exit code */
export async function raceCommand(args: readonly string[], kind: Kind): Promise<number> {
  const options = readOptions(args)
  if (kind === 'selfcheck' && options.target !== undefined)
    throw new UsageError(
      'pnpm bench selfcheck starts one app seven times, and a target is not started: leave out --target.',
    )
  const planned = () => createResult(options, kind, '')
  if (options.timeGiven && !options.help && options.resume === undefined) assertFits(planned())
  if (options.help) process.stdout.write(HELP)
  else if (options.list)
    process.stdout.write(
      planned()
        .cells.map(({ id }) => `${id}\n`)
        .join(''),
    )
  else if (options.dryRun) process.stdout.write(describePlan(planned()))
  else return race(options, await prepare(options, args, kind))
  return 0
}

/** @throws {UsageError} if the time is too short for two heats of every role */
function assertFits({ cells, settings, mode }: Result): void {
  const maxTimeMs = settings.maxTimeMs ?? Number.POSITIVE_INFINITY
  const leastMs = leastTimeMs({ cells, settings, mode })
  if (maxTimeMs >= leastMs || settings.heats < LEAST_HEATS) return
  throw new UsageError(
    `--max-time ${Math.floor(maxTimeMs / 1000)}s is too short for two heats of every role, without which there are no intervals: ` +
      `give it at least ${Math.ceil(leastMs / 1000)}s, or fewer apps with --only.`,
  )
}

async function prepare(options: Options, args: readonly string[], kind: Kind): Promise<Unfinished> {
  if (options.resume !== undefined) return goOn(options.resume)
  if (options.target !== undefined) await assertAnswering(options.target)
  return begin(options, args, kind)
}

function begin(options: Options, args: readonly string[], kind: Kind): Unfinished {
  const command = commandOf(kind === 'rate' ? 'pnpm bench' : 'pnpm bench selfcheck', args, options.seed)
  return {
    result: createResult(options, kind, command),
    directory: prepareOutput(options.output, options.json),
  }
}

function goOn(name: string): Unfinished {
  const found = findUnfinished(name, ['rate', 'selfcheck'])
  found.result.warnings.push(pauseOf(found.result))
  return found
}

async function race(
  { json, download, keepVoided, require }: Options,
  { result, directory }: Unfinished,
): Promise<number> {
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const save = (so: Result) => writeResult(`${directory}/result.json`, so)
  await runBench(result, { progress, save, signal, download, keepVoided }).finally(progress.stop)
  publish(result, directory, json)
  if (signal.aborted) {
    const hint = result.mode === 'target' ? '' : ' Go on with pnpm bench --resume'
    process.stderr.write(`Interrupted: what was measured before is above and in the files.${hint}\n`)
    return code()
  }
  const failed = whyRaceFailed(result, require)
  for (const sentence of failed) process.stderr.write(`${wrap(sentence)}\n`)
  return failed.length > 0 ? 1 : 0
}
