import { helpOf, pick } from '@startgrid/cli/options.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { STUDIES } from '../../studies/index.ts'
import { COMMANDS_ANYWHERE } from './commands/anywhere.ts'
import { GRID, PUBLISH, STUDY } from './option-table.ts'
import { type Command, helpOfCommands, type Program } from './program.ts'

const { race, ...others } = COMMANDS_ANYWHERE

const COMMANDS: Readonly<Record<string, Command>> = {
  grid: {
    usage: 'grid',
    says: 'what runs without a command; grid --help has all options',
    more: `Every app, directly and behind NGINX: about 5 minutes. --max-time covers all but the first proof of equality. Frameworks: ${FRAMEWORKS.join(', ')}.`,
    options: GRID,
    run: async (args) => (await import('./commands/grid.ts')).gridCommand(args),
  },
  race,
  study: {
    usage: 'study NAME',
    says: 'a published claim, or a question of ours, tested here',
    more: `Studies: ${STUDIES.map(({ name }) => name).join(', ')}. Without a name, --all and --list.`,
    options: STUDY,
    run: async (args) => (await import('./commands/study.ts')).studyCommand(args),
  },
  ...others,
  publish: {
    usage: 'publish [RESULT …]',
    says: 'results into docs/, where the site finds them',
    more: 'Of a race the figures, for each kind of machine; of a study also its page. Without a result, the pages of all studies are made again. The table in docs/results/README.md is written by hand.',
    options: PUBLISH,
    run: async (...words) => (await import('./commands/publish.ts')).publishCommand(...words),
  },
}

/** What `pnpm bench --help` prints: one screen. */
const HELP = `pnpm bench [options]   every app, directly and behind NGINX: about 5 minutes
pnpm bench COMMAND     each has its own --help

${helpOfCommands(Object.values(COMMANDS))}

${helpOf(pick(GRID, ['quick', 'only', 'role', 'max-time', 'dry-run']))}
`

/** `pnpm bench` */
export const BENCH: Program = {
  name: 'pnpm bench',
  commands: COMMANDS,
  ...(COMMANDS.grid !== undefined && { usual: COMMANDS.grid }),
  help: HELP,
}
