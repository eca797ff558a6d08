import { COMMANDS_ANYWHERE } from './commands/anywhere.ts'
import { type Command, helpOfCommands, runMain } from './program.ts'

/** The bin of packages/startgrid: what needs nothing of this repository. */

const load: Command = {
  usage: 'load URL',
  says: 'sends requests to a server, and reads every response',
  options: {}, // it has a help of its own
  run: async (args, { name }) =>
    (await import('@startgrid/loadgen/cli.ts')).loadCommand(args, `${name} load`),
}

const { race, ...others } = COMMANDS_ANYWHERE
const commands = { race, load, ...others }

await runMain({
  name: 'startgrid',
  commands,
  help: `startgrid COMMAND    each has its own --help\n\n${helpOfCommands(Object.values(commands))}\n`,
  results: 'startgrid-results',
})
