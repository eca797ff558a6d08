import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { flag, readCommandLine } from '@startgrid/cli/options.ts'
import { APPS, type App, findApps } from '@startgrid/grid/apps.ts'

/** `pnpm dev fastify/ssr`: runs one app, starts it again when its source changes, and updates the page in the browser. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const HELP = `pnpm dev <framework>/<role>   runs one app with reload

Settings are those of the app: PORT=4000 pnpm dev ${APPS[4]?.name}
`

function main(): number | undefined {
  const { values, positionals } = readCommandLine(
    process.argv.slice(2),
    { help: flag('this text') },
    'pnpm dev',
  )
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const app = chooseApp(positionals)
  const child = start(app)
  const stop = (): void => void child.kill('SIGTERM')
  process.once('SIGINT', stop).once('SIGTERM', stop)
  // npx and pnpm do not pass on every signal. If this process loses its parent, nobody reads its output.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && stop(), 1000).unref()
  return undefined
}

function chooseApp(names: string[]): App {
  const [name, ...more] = names
  if (name === undefined || more.length > 0)
    throw new UsageError('Name one app, such as pnpm dev fastify/ssr.')
  const [app, ...others] = findApps(name)
  if (app === undefined || others.length > 0) {
    throw new UsageError(`'${name}' is ${others.length + 1} apps: name one, such as ${app?.name}.`)
  }
  return app
}

/** For a page, Vite replaces the build. NGINX runs only built code, so everything is built before each start. */
function command({ runtime, role }: App): string[] {
  const conditions = role === 'ssr' ? ['--conditions=development'] : []
  if (runtime === 'bun') return ['bun', '--watch', ...conditions]
  const watching = ['node', '--watch-preserve-output']
  if (runtime === 'node') return [...watching, '--watch', ...conditions]
  const paths = ['--watch-path=src', `--watch-path=${ROOT}packages/shared/src`]
  return [...watching, ...paths, '--import', new URL('build.ts', import.meta.url).href]
}

function start(app: App) {
  const [file = 'node', ...options] = command(app)
  const args = [...options, 'src/server.ts', app.role]
  return spawn(file, args, { cwd: app.directory, stdio: ['ignore', 'inherit', 'inherit'] })
}

try {
  const code = main()
  if (code !== undefined) process.exitCode = code
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
