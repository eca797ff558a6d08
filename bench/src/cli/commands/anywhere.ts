import { RACE, REPORT } from '../options.ts'
import type { Command } from '../program.ts'

/** Those that need nothing of the repository. */
export const COMMANDS_ANYWHERE: Readonly<Record<'race' | 'report', Command>> = {
  race: {
    usage: 'race CMD CMD',
    says: 'servers of your own: is the second one slower?',
    more:
      "race 'node before.js' 'node after.js' starts both; race URL URL compares servers that run already, on this machine or in a private network; race --git REF compares this " +
      'directory with that commit. A command is run by a shell, with your rights. It has to listen on the port in PORT, or ' +
      'on {port} in its words, at the address in HOST. With --git, the install scripts of both sides are run as well.',
    options: RACE,
    run: async (...words) => (await import('./race.ts')).raceCommand(...words),
  },
  report: {
    usage: 'report RESULT',
    says: 'makes the reports of a result again',
    more: 'RESULT is the directory of a run or its result.json. Reports in Markdown and HTML are written beside it.',
    options: REPORT,
    run: async (...words) => (await import('./report.ts')).reportCommand(...words),
  },
}
