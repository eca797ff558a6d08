import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { UnknownName } from '@startgrid/grid/apps.ts'
import { LoadError } from '@startgrid/loadgen'
import { CheckoutError } from '../environments/command/checkout.ts'
import { PilotError } from '../measure/pilot.ts'
import { ResultError } from '../model/result-file.ts'
import { OutputError } from '../report/output.ts'

/** Each command with its own file, loaded only if it is asked for. They return an exit code. */
export const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  race: async (args) => (await import('./commands/race.ts')).raceCommand(args),
  capacity: async (args) => (await import('./commands/open-loop.ts')).openLoopCommand('capacity', args),
  latency: async (args) => (await import('./commands/open-loop.ts')).openLoopCommand('latency', args),
  overload: async (args) => (await import('./commands/open-loop.ts')).openLoopCommand('overload', args),
  study: async (args) => (await import('./commands/study.ts')).studyCommand(args),
  overhead: async (args) => (await import('./commands/study.ts')).studyCommand(['overhead', ...args]),
  compare: async (args) => (await import('./commands/compare.ts')).compareCommand(args),
  'check-instrument': async (args) =>
    (await import('./commands/check-instrument.ts')).checkInstrumentCommand(args),
  report: async (args) => (await import('./commands/report.ts')).reportCommand(args),
}

/** Runs one command of `pnpm bench`; an error that it foresees becomes one sentence. @returns the exit code, as of `runCommand` */
export function runCommandLine(args: readonly string[]): Promise<number> {
  return runCommand(args).catch(explain)
}

/**
 * @returns the exit code: 0 if everything ran and was reported, 1 if a cell has no number or `--require` is not reached, 2 for wrong
 * words, 130 after Ctrl-C, 143 after SIGTERM
 */
async function runCommand(args: readonly string[]): Promise<number> {
  const [first = '', ...others] = args
  if (first === '' || first.startsWith('-')) return (await import('./commands/grid.ts')).gridCommand(args)
  const command = COMMANDS[first]
  if (command !== undefined) return command(others)
  const names = Object.keys(COMMANDS)
  throw new UsageError(
    `There is no command '${first}', only ${names.join(', ')}; without one, the grid is raced.`,
  )
}

/** Prints an expected error as one sentence, any other with its stack. @returns the exit code */
function explain(error: unknown): number {
  if (FORESEEN.some((kind) => error instanceof kind) || isSystemError(error))
    process.stderr.write(`${oneLine(error)}.\n`)
  else console.error(error)
  return error instanceof UsageError || error instanceof UnknownName ? 2 : 1
}

const FORESEEN = [OutputError, UsageError, CheckoutError, PilotError, UnknownName, ResultError, LoadError]

/** A disk that became full or read-only during the run. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
