import { UsageError } from '@startgrid/cli/arguments.ts'
import { helpOf, pick, type Table } from '@startgrid/cli/options.ts'
import { capital, oneLine, wrap } from '@startgrid/cli/text.ts'
import { FRAMEWORKS, UnknownName } from '@startgrid/grid/apps.ts'
import { LoadError } from '@startgrid/loadgen'
import { STUDIES } from '../../studies/index.ts'
import { CheckoutError } from '../environments/command/checkout.ts'
import type { OpenLoopKind } from '../experiment/options.ts'
import { PilotError } from '../measure/pilot.ts'
import { ResultError } from '../model/result-file.ts'
import { OutputError } from '../report/output.ts'
import { COMPARE, GRID, OPEN_LOOP, RACE, REPORT, STUDY } from './option-table.ts'

interface Command {
  /** Its words, and what it does in a line of help. */
  usage: string
  says: string
  /** What its own help says beside that. */
  more?: string
  options: Table
  /** Each has its own file, loaded only if it is asked for. @returns an exit code */
  run(args: readonly string[]): Promise<number>
}

const openLoop = (kind: OpenLoopKind): Pick<Command, 'usage' | 'options' | 'run'> => ({
  usage: kind,
  options: OPEN_LOOP[kind],
  run: async (args) => (await import('./commands/open-loop.ts')).openLoopCommand(kind, args),
})

const study = async (args: readonly string[]) => (await import('./commands/study.ts')).studyCommand(args)

export const COMMANDS: Readonly<Record<string, Command>> = {
  grid: {
    usage: 'grid',
    says: 'what runs without a command; grid --help has all options',
    more: `Every app, directly and behind NGINX: 5 minutes. --max-time covers all but the first proof of equality. Frameworks: ${FRAMEWORKS.join(', ')}.`,
    options: GRID,
    run: async (args) => (await import('./commands/grid.ts')).gridCommand(args),
  },
  race: {
    usage: 'race CMD CMD',
    says: 'servers of your own: is the second one slower?',
    more:
      "pnpm bench race 'node before.js' 'node after.js' starts both; pnpm bench race URL URL compares servers that run on this machine; pnpm bench " +
      'race --git REF compares this directory with that commit. A command is run by a shell, with your rights. It has to listen on the port in PORT, or ' +
      'on {port} in its words, at the address in HOST. With --git, the install scripts of both sides are run as well.',
    options: RACE,
    run: async (args) => (await import('./commands/race.ts')).raceCommand(args),
  },
  capacity: {
    ...openLoop('capacity'),
    says: 'the highest rate that keeps p99 under a bound',
    more: 'A staircase of open-loop steps on one launch of a cell finds the rate; others, fresh ones, confirm it. Without --only or --role: hello.',
  },
  latency: {
    ...openLoop('latency'),
    says: 'percentiles at fixed rates, from the intended send time',
    more: 'At 25, 50 and 75 % of what a cell can do just then, and at one rate for all cells of a role: half of what the slowest of them can do. Without --only or --role: hello and ssr.',
  },
  overload: {
    ...openLoop('overload'),
    says: 'what is left at twice the capacity, and the recovery',
    more: 'Right responses under twice the capacity, and how long it takes after that until p99 at half the capacity is back. Without --only or --role: hello and ssr.',
  },
  study: {
    usage: 'study NAME',
    says: 'a published claim, or a question of ours, tested here',
    more: `Studies: ${STUDIES.map(({ name }) => name).join(', ')}. Without a name, --all, --list, --docs and --resume.`,
    options: STUDY,
    run: study,
  },
  overhead: {
    usage: 'overhead',
    says: 'study overhead',
    options: STUDY,
    run: (args) => study(['overhead', ...args]),
  },
  compare: {
    usage: 'compare A B',
    says: 'two results: faster, slower, or no difference shown',
    more: 'A and B are directories of runs (bench/results/<time>) or their result.json, or two runs of one study; B is compared with A.',
    options: COMPARE,
    run: async (args) => (await import('./commands/compare.ts')).compareCommand(args),
  },
  report: {
    usage: 'report RESULT',
    says: 'makes the reports of a result again',
    more: 'RESULT is the directory of a run (bench/results/<time>) or its result.json. What was measured stays as it is; the figures are worked out again, and reports in Markdown and HTML are written beside it.',
    options: REPORT,
    run: async (args) => (await import('./commands/report.ts')).reportCommand(args),
  },
  'check-instrument': {
    usage: 'check-instrument',
    says: 'is the load generator right on this machine?',
    options: {},
    run: async (args) => (await import('./commands/check-instrument.ts')).checkInstrumentCommand(args),
  },
}

/** What `pnpm bench --help` prints: one screen. */
export const HELP = `pnpm bench [options]   races every app, directly and behind NGINX (5 minutes)
pnpm bench COMMAND     each has its own --help

${Object.values(COMMANDS)
  .filter(({ says }) => says !== 'study overhead')
  .map(({ usage, says }) => `  ${usage.padEnd(20)}${says}`)
  .join('\n')}

${helpOf(pick(GRID, ['quick', 'thorough', 'only', 'role', 'max-time', 'docker', 'resume', 'dry-run']))}
`

export function helpOfCommand({ usage, says, more, options }: Command): string {
  const first = says.endsWith('?') ? says : `${says}.`
  const text = more === undefined ? first : `${first} ${more}`
  return `pnpm bench ${usage} [options]\n\n${wrap(capital(text))}\n\n${helpOf(options)}\n`
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
  const [first = ''] = args
  const isNamed = first !== '' && !first.startsWith('-')
  const command = COMMANDS[isNamed ? first : 'grid']
  if (command === undefined)
    throw new UsageError(
      `There is no command '${first}', only ${Object.keys(COMMANDS).join(', ')}; without one, the grid is raced.`,
    )
  if (!args.includes('--help')) return command.run(isNamed ? args.slice(1) : args)
  process.stdout.write(isNamed ? helpOfCommand(command) : HELP)
  return 0
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
