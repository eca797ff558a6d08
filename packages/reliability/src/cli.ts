import { ForeseenError, UsageError } from '@startgrid/cli/arguments.ts'
import { flag, helpOf, readCommandLine, texts } from '@startgrid/cli/options.ts'
import { createProgress, listenForInterruption } from '@startgrid/cli/progress.ts'
import { listOf, oneLine, wrap } from '@startgrid/cli/text.ts'
import { APPS, type App, findApps } from '@startgrid/grid/apps.ts'
import { requireNginx } from '@startgrid/nginx/find.ts'
import { type Cell, FAULTS, formatMatrix, tryFaults } from './matrix.ts'
import type { Fault } from './subject.ts'

const OPTIONS = {
  fault: texts('NAME', `only this one; may be given again: ${listOf(FAULTS.map(({ name }) => name))}`),
  help: flag('this text', { short: 'h' }),
}

const HELP = `pnpm reliability [APP …] [options]  what each app does when something goes wrong

  APP           an app, a framework or a role: fastify/ssr, fastify, ssr
                (default: all)
${helpOf(OPTIONS)}

Exit codes: 0 all passed; 1 something failed; 2 not understood; 130 interrupted.
`

/** What one fault takes with all apps on two cores, in milliseconds: the first forecast. */
const FAULT_MS = 60_000

/** @returns the exit code, as `HELP` lists them */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = readCommandLine(args, OPTIONS, 'pnpm reliability')
  const faults = values.fault.length === 0 ? FAULTS : findFaults(values.fault)
  const named = new Set(positionals.flatMap(findApps))
  if (values.help) process.stdout.write(HELP)
  else return run(faults, positionals.length === 0 ? APPS : APPS.filter((app) => named.has(app)))
  return 0
}

/** Faults by name, in the order of the matrix. @throws {UsageError} listing them */
function findFaults(names: readonly string[]): Fault[] {
  const known = FAULTS.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`There is no fault '${unknown}', only ${known.join(', ')}.`)
  return FAULTS.filter(({ name }) => names.includes(name))
}

async function run(faults: readonly Fault[], apps: readonly App[]): Promise<number> {
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
