import { helpOf, pick } from '@startgrid/cli/options.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { STUDIES } from '../../studies/index.ts'
import type { OpenLoopKind } from '../experiment/options.ts'
import { COMMANDS_ANYWHERE } from './commands/anywhere.ts'
import { GRID, OPEN_LOOP, STUDY } from './option-table.ts'
import { type Command, helpOfCommands, type Program } from './program.ts'

const openLoop = (kind: OpenLoopKind): Pick<Command, 'usage' | 'options' | 'run'> => ({
  usage: kind,
  options: OPEN_LOOP[kind],
  run: async (args) => (await import('./commands/open-loop.ts')).openLoopCommand(kind, args),
})

const study = async (args: readonly string[]) => (await import('./commands/study.ts')).studyCommand(args)

const { race, ...others } = COMMANDS_ANYWHERE

const COMMANDS: Readonly<Record<string, Command>> = {
  grid: {
    usage: 'grid',
    says: 'what runs without a command; grid --help has all options',
    more: `Every app, directly and behind NGINX: 5 minutes. --max-time covers all but the first proof of equality. Frameworks: ${FRAMEWORKS.join(', ')}.`,
    options: GRID,
    run: async (args) => (await import('./commands/grid.ts')).gridCommand(args),
  },
  race,
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
  ...others,
}

/** What `pnpm bench --help` prints: one screen. */
const HELP = `pnpm bench [options]   races every app, directly and behind NGINX (5 minutes)
pnpm bench COMMAND     each has its own --help

${helpOfCommands(Object.values(COMMANDS).filter(({ says }) => says !== 'study overhead'))}

${helpOf(pick(GRID, ['quick', 'thorough', 'only', 'role', 'max-time', 'docker', 'resume', 'dry-run']))}
`

/** `pnpm bench` */
export const BENCH: Program = {
  name: 'pnpm bench',
  commands: COMMANDS,
  ...(COMMANDS.grid !== undefined && { usual: COMMANDS.grid }),
  help: HELP,
  studies: STUDIES,
}
