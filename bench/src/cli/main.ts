import { helpOf } from '@startgrid/cli/options.ts'
import { STUDIES } from '../../studies/index.ts'
import { COMMANDS_ANYWHERE } from './commands/anywhere.ts'
import { GRID, PUBLISH, STUDY } from './options.ts'
import { type Command, helpOfCommands, type Program, runMain } from './program.ts'

const { race, ...others } = COMMANDS_ANYWHERE

const COMMANDS: Readonly<Record<string, Command>> = {
  race,
  study: {
    usage: 'study NAME',
    says: 'a published claim, or a question of ours, tested here',
    more: `Studies: ${STUDIES.map(({ name }) => name).join(', ')}. Without a name, --all and --list.`,
    options: STUDY,
    run: async (...words) => (await import('./commands/study.ts')).studyCommand(...words),
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

/** `pnpm bench`, whose help is one screen. */
export const BENCH: Program = {
  name: 'pnpm bench',
  commands: COMMANDS,
  usual: {
    options: GRID,
    run: async (...words) => (await import('./commands/grid.ts')).gridCommand(...words),
  },
  help: `pnpm bench [options]   every app, directly and behind NGINX: about 5 minutes
pnpm bench COMMAND     each has its own --help

${helpOfCommands(Object.values(COMMANDS))}

${helpOf(GRID)}
`,
}

if (import.meta.main) await runMain(BENCH)
