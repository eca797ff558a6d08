import { ForeseenError, UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { createProgress, listenForInterruption } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { APPS, findApps } from '@startgrid/grid/apps.ts'
import { requireNginx } from '@startgrid/nginx/find.ts'
import { AppSubject } from './app.ts'
import { OF_APPS } from './faults/apps.ts'
import { faultsOf, formatApp } from './report.ts'
import { type OnFindings, tryFaults } from './subject.ts'
import { chosen, helpFor, isCommand, OPTIONS, surviveCommand } from './survive.ts'

const COMMAND = 'pnpm reliability'

const HELP = `${helpFor(COMMAND, OF_APPS)}
${COMMAND} [APP …] [--fault NAME]  the same, and more, on our apps

  APP           an app, a framework or a role: fastify/ssr, fastify, ssr
                (default: all)
`

/** @returns the exit code, as `HELP` lists them */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = readCommandLine(args, OPTIONS, COMMAND)
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (positionals.some(isCommand)) return surviveCommand(args, COMMAND)
  const faults = chosen(values.fault, OF_APPS)
  const named = new Set(positionals.flatMap(findApps))
  const apps = APPS.filter((app) => named.size === 0 || named.has(app))
  const nginx = await requireNginx()
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  // What they take on two cores: the first forecast.
  progress.begin((150_000 * apps.length * faults.length) / OF_APPS.length)
  let wrong = 0
  for (const [index, app] of apps.entries()) {
    const onFindings: OnFindings = ([finding], done) =>
      progress.update((index + done) / apps.length, `${app.name} ${finding?.row}`)
    const open = () => new AppSubject(app, nginx, signal)
    const findings = await tryFaults(faults, open, { signal, hasCopies: true, onFindings })
    if (signal.aborted) break
    process.stdout.write(formatApp(app.name, findings))
    wrong += faultsOf(findings).length
  }
  progress.stop()
  return signal.aborted ? code() : Number(wrong > 0)
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
