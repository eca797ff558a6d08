import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { findApp } from './app-name.ts'
import { eject } from './eject.ts'
import { EjectError } from './eject-error.ts'
import { OPTIONS } from './options/index.ts'
import { checkProjectName } from './project-name.ts'
import { RunError } from './run.ts'
import { formatSummary } from './summary.ts'
import { resolveTarget } from './target.ts'

/** `pnpm eject fastify/ssr ../my-app`. The exit code is 0; 1 if no project was made; 2 if the command line is not valid. */

const HELP = `pnpm eject <framework>/<app> <directory>   copies an app out as a project

  --name NAME   the npm name of the project; by default that of its directory
  --with NAME   adds an option; several as --with a,b or --with a --with b
  --no-git      no repository with a first commit

The directory must be outside of this repository, and new or empty.

  pnpm eject fastify/ssr ../my-app
${listOptions()}`

function listOptions(): string {
  const width = Math.max(...OPTIONS.map(({ name }) => name.length))
  const lines = OPTIONS.map(({ name, title }) => `  ${name.padEnd(width)}   ${title}\n`)
  return lines.length > 0 ? `\nOptions:\n\n${lines.join('')}` : ''
}

async function main(args: string[], signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      help: { type: 'boolean' },
      name: { type: 'string' },
      with: { type: 'string', multiple: true, default: [] },
      git: { type: 'boolean', default: true },
    },
  })
  const [appName, path, ...more] = positionals
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (appName === undefined || path === undefined || more.length > 0) {
    process.stderr.write(HELP)
    return 2
  }
  const app = findApp(appName)
  // pnpm runs scripts in the repository's root, but the path is relative to the person's directory.
  const target = await resolveTarget(path, process.env.INIT_CWD ?? process.cwd())
  const name = values.name ?? basename(target)
  checkProjectName(name)
  const options = values.with.flatMap((names) => names.split(','))
  const ejected = await eject({ app, target, name, options, git: values.git, signal })
  process.stdout.write(formatSummary(ejected, path))
  return 0
}

const controller = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => controller.abort())

try {
  process.exitCode = await main(process.argv.slice(2), controller.signal)
} catch (error) {
  process.exitCode = explain(error)
}

/** @returns the exit code */
function explain(error: unknown): number {
  if (controller.signal.aborted) {
    process.stderr.write('Interrupted: nothing was written.\n')
    return 130
  }
  if (isUsage(error)) {
    const [sentence] = error.message.split('. ', 1)
    process.stderr.write(`${sentence}.\n\n${HELP}`)
    return 2
  }
  // For a full disk or a missing permission, the system's message is good enough.
  const isKnown = error instanceof EjectError || error instanceof RunError || hasSyscall(error)
  if (!isKnown) throw error
  process.stderr.write(`${error.message}\n`)
  return 1
}

function hasSyscall(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

function isUsage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
