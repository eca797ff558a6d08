import { ForeseenError, UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { createProgress, listenForInterruption } from '@startgrid/cli/progress.ts'
import { oneLine, wrap } from '@startgrid/cli/text.ts'
import { APPS, type App, findApps } from '@startgrid/grid/apps.ts'
import { requireNginx } from '@startgrid/nginx/find.ts'
import type { AppFault } from './app.ts'
import { type Cell, FAULTS, formatMatrix, tryFaults } from './matrix.ts'
import { chosen, helpFor, isCommand, OPTIONS, surviveCommand } from './survive.ts'

const COMMAND = 'pnpm reliability'

const HELP = `${helpFor(COMMAND, FAULTS)}
${COMMAND} [APP …] [--fault NAME]  the same, and more, on our apps

  APP           an app, a framework or a role: fastify/ssr, fastify, ssr
                (default: all)
`

/** What one fault takes with all apps on two cores, in milliseconds: the first forecast. */
const FAULT_MS = 90_000

/** @returns the exit code, as `HELP` lists them */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = readCommandLine(args, OPTIONS, COMMAND)
  if (values.help) process.stdout.write(HELP)
  else if (positionals.some(isCommand)) return surviveCommand(args, COMMAND)
  else {
    const named = new Set(positionals.flatMap(findApps))
    return run(
      chosen(values.fault, FAULTS),
      positionals.length === 0 ? APPS : APPS.filter((app) => named.has(app)),
    )
  }
  return 0
}

async function run(faults: readonly AppFault[], apps: readonly App[]): Promise<number> {
  const nginx = await requireNginx()
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const cells: Cell[] = []
  const total = faults.length * apps.length
  progress.begin((FAULT_MS * total) / APPS.length)
  const onCell = (cell: Cell) => {
    cells.push(cell)
    const { fault, app, state, findings } = cell
    if (state === 'failed')
      progress.say(wrap(`${fault}  ${app}  failed: ${findings[0]?.split('\n')[0]}`, '  '))
    progress.update(cells.length / total, `${cells.length} of ${total}: ${fault} ${app}`)
  }
  await tryFaults({ faults, apps, nginx, signal, onCell }).finally(progress.stop)
  process.stdout.write(
    formatMatrix(
      faults.map(({ name }) => name),
      cells,
    ),
  )
  if (signal.aborted) return code()
  return cells.some(({ state }) => state === 'failed') ? 1 : 0
}

/** @returns the exit code for what went wrong, told in a sentence; what nobody foresaw keeps its stack */
function explain(error: unknown): number {
  // Without a subclass: what NGINX's finder and the file system say.
  if (error instanceof ForeseenError || (error instanceof Error && error.constructor === Error))
    process.stderr.write(`${oneLine(error)}.\n`)
  else console.error(error)
  return error instanceof UsageError ? 2 : 1
}

const code = await main(process.argv.slice(2)).catch(explain)
process.stdout.write('', () => process.exit(code))
