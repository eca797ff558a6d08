import { resolve } from 'node:path'
import { parseCommandLine, UsageError } from '@startgrid/cli/arguments.ts'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import { chooseApp } from './app-name.ts'
import { createProject } from './create-project.ts'
import { EjectError } from './eject-error.ts'
import type { AppSource } from './eject-tree.ts'
import { type AppEntry, Cancelled, type Choice, type Chosen, pick } from './picker.ts'
import { checkProjectName, nameFor } from './project-name.ts'
import { formatSummary } from './summary.ts'
import { resolveTarget } from './target.ts'

/** Where projects come from: this repository, or a package that has all of them. */
export interface Origin {
  /** As a person types it: `pnpm eject`. */
  command: string
  /** What comes before the options in it: npm needs `--`. */
  separator: string
  /** Whether the first positional is an app: `pnpm eject fastify/ssr ../my-app`. */
  takesApp: boolean
  /** The directory without a choice, such as `my-app`. */
  defaultPath: string
  /** What paths are relative to. */
  from: string
  apps: readonly AppEntry[]
  options: readonly { name: string; title: string }[]
  /** @throws {EjectError} if it cannot be read */
  readSource(app: string, signal: AbortSignal): Promise<AppSource>
  /** @throws {EjectError} if no project may be written there */
  checkTarget?(target: string, path: string): Promise<void>
}

const FLAGS = {
  help: { type: 'boolean' },
  framework: { type: 'string' },
  role: { type: 'string' },
  with: { type: 'string', multiple: true },
  name: { type: 'string' },
  'no-git': { type: 'boolean' },
  'no-lockfile': { type: 'boolean' },
  yes: { type: 'boolean' },
} as const

/**
 * Runs `pnpm eject` or `npm create startgrid`. On a terminal it asks for what is missing.
 * @returns the exit code: 0; 1 if no project was made; 2 if the command line is not valid; 130 if it was interrupted
 */
export async function runCommand(args: readonly string[], origin: Origin): Promise<number> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, abort)
  try {
    return await main(args, origin, controller.signal)
  } catch (error) {
    return explain(error, origin, controller.signal)
  } finally {
    for (const signal of signals) process.removeListener(signal, abort)
  }
}

async function main(args: readonly string[], origin: Origin, signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseCommandLine(args, FLAGS, origin.command)
  if (values.help) {
    process.stdout.write(help(origin))
    return 0
  }
  const known = readChoice(values, positionals, origin)
  if (known === undefined) return usage(origin)
  const isComplete = known.path !== undefined && known.framework !== undefined && known.role !== undefined
  if (!isComplete && !values.yes && !isInteractive()) return usage(origin)
  const choice = isComplete || values.yes ? withDefaults(known, origin) : await ask(known, origin, signal)
  const app = chooseApp(`${choice.framework}/${choice.role}`, origin.apps)
  const target = await resolveTarget(choice.path, origin.from, origin.checkTarget)
  const name = values.name ?? nameFor(target)
  checkProjectName(name)
  const source = await origin.readSource(app.name, signal)
  const { options } = choice
  const [git, lockfile] = [!values['no-git'], !values['no-lockfile']]
  const created = await createProject({ source, target, name, options, git, lockfile, signal })
  process.stdout.write(formatSummary(created, choice.path))
  return 0
}

interface Flags {
  framework?: string | undefined
  role?: string | undefined
  with?: string[] | undefined
}

/** @returns undefined if there are too many positionals */
function readChoice(flags: Flags, positionals: readonly string[], origin: Origin): Choice | undefined {
  const { takesApp, apps } = origin
  const [appName, path, ...more] = takesApp ? positionals : [undefined, ...positionals]
  if (more.length > 0) return undefined
  const app = appName === undefined ? undefined : chooseApp(appName, apps)
  const framework = flags.framework ?? app?.framework
  const role = flags.role ?? app?.role
  requireKnown('framework', framework, apps)
  requireKnown('role', role, apps)
  return { framework, role, path, options: flags.with?.flatMap((names) => names.split(',')) }
}

function requireKnown(what: 'framework' | 'role', name: string | undefined, apps: readonly AppEntry[]): void {
  const names = namesOf(what, apps)
  if (name === undefined || names.includes(name)) return
  throw new EjectError(`There is no ${what} '${name}'. There are: ${names.join(', ')}.`)
}

/** What `--yes` takes where nothing was said. */
function withDefaults(known: Choice, { defaultPath, apps }: Origin): Chosen {
  return {
    framework: known.framework ?? defaultFramework(apps),
    role: known.role ?? 'hello',
    path: known.path ?? defaultPath,
    options: known.options ?? [],
  }
}

/** The catalogue begins with bare node, which needs the most code: the one behind it. */
function defaultFramework(apps: readonly AppEntry[]): string {
  const [bare = '', next = bare] = namesOf('framework', apps)
  return next
}

function namesOf(what: 'framework' | 'role', apps: readonly AppEntry[]): string[] {
  return [...new Set(apps.map((app) => app[what]))]
}

async function ask(known: Choice, origin: Origin, signal: AbortSignal): Promise<Chosen> {
  const { apps, defaultPath, command } = origin
  const optionsOf = async (app: string) => {
    const { options } = await origin.readSource(app, signal)
    return origin.options.map((option) => ({ ...option, ...refusalOf(options[option.name]) }))
  }
  return pick(known, { apps, optionsOf, title: command, defaultPath, signal })
}

function refusalOf(option: AppSource['options'][string] | undefined): { refused?: string } {
  return option !== undefined && 'refused' in option ? { refused: option.refused } : {}
}

function isInteractive(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !process.env.CI
}

function usage(origin: Origin): number {
  process.stderr.write(help(origin))
  return 2
}

function help({ command, separator, takesApp, defaultPath, apps, options }: Origin): string {
  const byDefault = defaultFramework(apps)
  const rows = namesOf('framework', apps).map((name) => apps.filter(({ framework }) => framework === name))
  const width = Math.max(...options.map(({ name }) => name.length), 0)
  const example = takesApp
    ? `${command} ${byDefault}/ssr ${defaultPath}`
    : `${command} ${defaultPath} ${separator}--framework ${byDefault} --role ssr`
  return [
    `${takesApp ? `${command} <framework>/<role> <directory>` : `${command} <directory>`}   makes a project of one app`,
    '',
    '  --framework NAME, --role NAME   which app',
    '  --with NAME   adds an option; several as --with a,b',
    '  --name NAME   the npm name of the project; by default that of its directory',
    '  --no-git      no repository with a first commit',
    '  --no-lockfile no package-lock.json, such as for pnpm',
    `  --yes         asks nothing: ${byDefault}/hello where nothing else was said`,
    '',
    'On a terminal it asks for what is missing. The apps:',
    '',
    ...rows.map((own) => `  ${own.map(({ name }) => name.padEnd(16)).join('')}`.trimEnd()),
    '',
    ...(options.length === 0
      ? []
      : ['Options:', '', ...options.map(({ name, title }) => `  ${name.padEnd(width)}   ${title}`), '']),
    `The directory must be new or empty.${takesApp ? ' It must be outside of this repository.' : ''}`,
    '',
    `  ${example}`,
    '',
  ].join('\n')
}

/** @returns the exit code */
function explain(error: unknown, origin: Origin, signal: AbortSignal): number {
  if (signal.aborted || error instanceof Cancelled) {
    if (signal.aborted) process.stderr.write('Interrupted: nothing was written.\n')
    return 130
  }
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${help(origin)}`)
    return 2
  }
  // For a full disk or a missing permission, the system's message is good enough.
  if (!(error instanceof ForeseenError || hasSyscall(error))) throw error
  process.stderr.write(`${error.message}\n`)
  return 1
}

function hasSyscall(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

/** Where the command was typed: package managers run scripts elsewhere. */
export function currentDirectory(): string {
  return resolve(process.env.INIT_CWD ?? process.cwd())
}
