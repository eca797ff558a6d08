import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { APPS, type App, findApps, UnknownName } from '@startgrid/grid/matrix.ts'

/** `pnpm dev fastify/ssr`: runs one app, and starts it again when a source file changes. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const HELP = `pnpm dev <framework>/<role>   runs one app with reload

The settings of the app work as always: PORT=4000 LOG_LEVEL=debug pnpm dev ${APPS[4]?.name}
`

function main(): number | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' } },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const app = chooseApp(positionals)
  const children = [
    watch(['node', 'build.ts', '--watch'], `${ROOT}packages/shared`),
    watch([...command(app), 'src/server.ts', app.role], app.directory),
  ]

  const stopAll = (): void => {
    for (const child of children) child.kill('SIGTERM')
  }
  process.once('SIGINT', stopAll).once('SIGTERM', stopAll)
  for (const child of children) child.once('exit', stopAll)
  // npx and pnpm do not pass on every signal; without them nobody is there to see this.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && stopAll(), 1000).unref()
  return undefined
}

function chooseApp(names: string[]): App {
  const [name, ...more] = names
  if (name === undefined || more.length > 0)
    throw new UnknownName('Name one app, such as pnpm dev fastify/ssr.')
  const [app, ...others] = findApps(name)
  if (app === undefined || others.length > 0) {
    throw new UnknownName(`'${name}' is ${others.length + 1} apps: name one, such as ${app?.name}.`)
  }
  return app
}

/** The built page is outside `src/`, so it is named. What njs runs is built as well, before each start. */
function command(app: App): string[] {
  if (app.runtime === 'bun') return ['bun', '--watch']
  const paths = [
    '--watch',
    '--watch-preserve-output',
    '--watch-path=src',
    `--watch-path=${ROOT}packages/shared/dist`,
  ]
  return ['node', ...paths, ...(app.runtime === 'nginx' ? ['--import', './build.ts'] : [])]
}

function watch([file = 'node', ...args]: string[], cwd: string) {
  return spawn(file, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
}

try {
  const code = main()
  if (code !== undefined) process.exitCode = code
} catch (error) {
  if (!(error instanceof UnknownName)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
