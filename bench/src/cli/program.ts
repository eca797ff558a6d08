import { ForeseenError, UsageError } from '@startgrid/cli/arguments.ts'
import { insteadOf } from '@startgrid/cli/gone.ts'
import { helpOf, type Table } from '@startgrid/cli/options.ts'
import { capital, oneLine, wrap } from '@startgrid/cli/text.ts'

/** A program of several commands: that of this repository, or of the package. */
export interface Program {
  /** As a person types it. */
  name: string
  commands: Readonly<Record<string, Command>>
  /** What runs without a command; undefined: its help. */
  usual?: Pick<Command, 'options' | 'run'>
  help: string
  /** Where the directories of its runs are; default: bench/results. */
  results?: string
}

export interface Command {
  /** Its words, and what it does in a line of help. */
  usage: string
  says: string
  /** What its own help says beside that. */
  more?: string
  options: Table
  /** Each has its own file, loaded only if it is asked for. @returns an exit code */
  run(args: readonly string[], program: Program): Promise<number>
}

/** A line for each. */
export function helpOfCommands(commands: readonly Command[]): string {
  return commands.map(({ usage, says }) => `  ${usage.padEnd(20)}${says}`).join('\n')
}

/** What `--help` after a command prints. */
export function helpOfCommand(name: string, { usage, says, more, options }: Command): string {
  const first = says.endsWith('?') ? says : `${says}.`
  const text = more === undefined ? first : `${first} ${more}`
  return `${name} ${usage} [options]\n\n${wrap(capital(text))}\n\n${helpOf(options)}\n`
}

/** Runs the words of this process, and ends it. */
export async function runMain(program: Program): Promise<void> {
  // The reader may close the pipe early, as `head` does: that is not a failure. A terminal that was lost (EIO) ends a run in its own way.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EIO') process.exit(code === 'EPIPE' ? 0 : 1)
  })
  const code = await runProgram(program, process.argv.slice(2))
  // Something that was interrupted may still run, such as a download.
  process.stdout.write('', () => process.exit(code))
}

/**
 * Runs one command; an error that it foresees becomes one sentence.
 * @returns the exit code: 0 if everything ran and was reported, 1 if something could not be run or responded wrongly, 2 for wrong words or an output that cannot be written, 130 after Ctrl-C, 143 after SIGTERM, 129 if the terminal was lost
 */
export function runProgram(program: Program, args: readonly string[]): Promise<number> {
  return runCommand(program, args).catch(explain)
}

async function runCommand(program: Program, args: readonly string[]): Promise<number> {
  const { name, commands, help, usual } = program
  const [first = ''] = args
  const isNamed = first !== '' && !first.startsWith('-')
  const named = commands[first]
  const command = isNamed ? named : usual
  if (isNamed && named === undefined)
    throw new UsageError(
      insteadOf(`${name} ${first}`) ??
        `There is no command '${first}', only ${Object.keys(commands).join(', ')}${usual === undefined ? '' : '; without one, the grid is raced'}.`,
    )
  if (command !== undefined && !(args.includes('--help') && 'help' in command.options))
    return command.run(isNamed ? args.slice(1) : args, program)
  process.stdout.write(named === undefined ? help : helpOfCommand(name, named))
  return 0
}

/** Prints an expected error as one sentence, any other with its stack. @returns the exit code */
function explain(error: unknown): number {
  if (error instanceof ForeseenError || isSystemError(error)) process.stderr.write(`${oneLine(error)}.\n`)
  else console.error(error)
  return error instanceof UsageError ? 2 : 1
}

/** A disk that became full or read-only during the run. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
