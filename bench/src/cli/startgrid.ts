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

const reliability: Command = {
  usage: 'reliability CMD',
  says: 'does a server survive stops, clients that leave, odd requests?',
  options: {}, // as load
  run: async (args, { name }) =>
    (await import('@startgrid/reliability/survive.ts')).surviveCommand(args, `${name} reliability`),
}

const { race, ...others } = COMMANDS_ANYWHERE
const commands = { race, reliability, load, ...others }

await runMain({
  name: 'startgrid',
  commands,
  help: `startgrid COMMAND    each has its own --help\n\n${helpOfCommands(Object.values(commands))}\n`,
  results: 'startgrid-results',
})
