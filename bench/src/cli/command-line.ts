import { helpOf, pick } from '@startgrid/cli/options.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { STUDIES } from '../../studies/index.ts'
import { COMMANDS_ANYWHERE } from './commands/anywhere.ts'
import { GRID, STUDY } from './option-table.ts'
import { type Command, helpOfCommands, type Program } from './program.ts'

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
  study: {
    usage: 'study NAME',
    says: 'a published claim, or a question of ours, tested here',
    more: `Studies: ${STUDIES.map(({ name }) => name).join(', ')}. Without a name, --all, --list and --docs.`,
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

${helpOf(pick(GRID, ['quick', 'only', 'role', 'max-time', 'dry-run']))}
`

/** `pnpm bench` */
export const BENCH: Program = {
  name: 'pnpm bench',
  commands: COMMANDS,
  ...(COMMANDS.grid !== undefined && { usual: COMMANDS.grid }),
  help: HELP,
  studies: STUDIES,
}
