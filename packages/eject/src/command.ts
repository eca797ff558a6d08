import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { ForeseenError, UsageError } from '@startgrid/cli/arguments.ts'
import { insteadOf } from '@startgrid/cli/gone.ts'
import { flag, readCommandLine, text, texts } from '@startgrid/cli/options.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { ask, Cancelled } from './ask.ts'
import { APPS, type App, OPTIONS, type Option, whyNoName, whyNot } from './choices.ts'
import { makeProject } from './project.ts'
import type { Source } from './source.ts'

export interface Origin {
  /** As a person types it. */
  command: string
  /** Such a command with an option. */
  example: string
  defaultPath: string
  /** No project may be below it. */
  outsideOf?: string
  /** @throws {ForeseenError} */
  readSource(): Source
}

const FLAGS = {
  with: texts('OPTIONS', 'what it has besides'),
  name: text('NAME', 'of the package'),
  help: flag('this text'),
}

/**
 * Runs `pnpm eject` or `npm create startgrid`. On a terminal it asks for what is missing.
 * @returns the exit code: 0; 1 if no project was made; 2 if the command line is not valid; 130 after Ctrl-C
 */
export async function runCommand(args: readonly string[], origin: Origin): Promise<number> {
  try {
    const { values, positionals } = readCommandLine(args, FLAGS, origin.command)
    const [appName, path, ...more] = positionals
    const { CI, TERM } = process.env
    // The cursor of a dumb terminal, such as Emacs has, cannot move up.
    const canAsk = process.stdin.isTTY && process.stdout.isTTY && !CI && TERM !== 'dumb'
    if (values.help || more.length > 0 || (path === undefined && !canAsk)) {
      process[values.help ? 'stdout' : 'stderr'].write(help(origin))
      return values.help ? 0 : 2
    }
    const app = appName === undefined ? undefined : findApp(appName)
    const named = values.with.flatMap((names) => names.split(',')).map(findOption)
    const options = named.length === 0 ? undefined : named
    const choice =
      app !== undefined && path !== undefined
        ? { app, options: options ?? [], path }
        : await ask({ app, options }, { title: origin.command, defaultPath: origin.defaultPath })
    for (const option of choice.options) {
      const reason = whyNot(choice.app, option)
      if (reason !== undefined) throw new ForeseenError(`${choice.app.name} cannot have ${option}. ${reason}`)
    }
    process.stdout.write(create(choice, values.name, origin))
    return 0
  } catch (error) {
    if (error instanceof Cancelled) return 130
    // For a full disk or a missing permission, the system's message is good enough.
    const isForeseen = error instanceof ForeseenError || (error instanceof Error && 'syscall' in error)
    if (!isForeseen) throw error
    process.stderr.write(`${error.message}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

/** @param name of the project; that of its directory if it is not given. @returns what to do next */
function create(
  { app, options, path }: { app: App; options: readonly Option[]; path: string },
  name: string | undefined,
  { outsideOf, readSource }: Origin,
): string {
  const target = resolve(process.env.INIT_CWD ?? '', path) // pnpm runs scripts in the root of the workspace
  checkTarget(target, path, outsideOf)
  const known = name ?? basename(target)
  const reason = whyNoName(known)
  if (reason !== undefined) throw new ForeseenError(`${reason} Give another one with --name.`)
  const project = makeProject(readSource(), { app, name: known, options })
  const { dependencies, devDependencies } = JSON.parse(project.get('package.json') ?? '')
  if (known in { ...dependencies, ...devDependencies })
    throw new ForeseenError(`'${known}' is a package that the project needs: give another --name.`)
  for (const [file, content] of project) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    writeFileSync(join(target, file), content)
  }
  return `${known} is a project of its own now: ${project.size} files in ${path}
${writeLockfile(target)}
  cd ${/^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}
  ${app.runtime === 'nginx' ? 'docker compose up --build --wait' : 'npm install && npm run dev   # needs Node 24 or newer'}

Then open http://127.0.0.1:3000, and edit src/${app.role}.ts. README.md has the rest.
`
}

/** The one app that a name such as `fastify/ssr` stands for. @throws {ForeseenError} listing the right names */
function findApp(name: string): App {
  const found = APPS.filter((app) => [app.name, app.framework, app.role].includes(name))
  const [app, ...others] = found
  if (app === undefined)
    throw new ForeseenError(`There is no app '${name}'. These are:\n\n${listNames(APPS)}`)
  if (others.length > 0)
    throw new ForeseenError(`'${name}' is ${found.length} apps. Name one of them:\n\n${listNames(found)}`)
  return app
}

function findOption(name: string): Option {
  if (name in OPTIONS) return name as Option
  const absent = `There is no option '${name}'. The options are: ${Object.keys(OPTIONS).join(', ')}.`
  throw new ForeseenError(insteadOf(`--with ${name}`) ?? absent)
}

/** A line per framework. */
function listNames(apps: readonly App[]): string {
  return CATALOGUE.map((framework) => apps.filter((app) => app.framework === framework.name))
    .filter((own) => own.length > 0)
    .map((own) => `  ${own.map(({ name }) => name.padEnd(16)).join('')}`.trimEnd())
    .join('\n')
}

/** @throws {ForeseenError} if no project may be there */
function checkTarget(target: string, path: string, outsideOf: string | undefined): void {
  const way = outsideOf === undefined ? '..' : relative(outsideOf, target)
  if (!way.startsWith('..') && !isAbsolute(way))
    throw new ForeseenError(`${path} is inside this repository: choose a directory outside of it.`)
  if (!existsSync(target)) return
  if (!statSync(target).isDirectory()) throw new ForeseenError(`${path} is a file: choose another name.`)
  const [found] = readdirSync(target)
  if (found !== undefined)
    throw new ForeseenError(`${path} is not empty (it has ${found}): choose another directory, or empty it.`)
}

/** Lets npm write package-lock.json, without the host of its registry. @returns nothing, or a line that says why it did not */
function writeLockfile(directory: string): string {
  const only = ['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund']
  const args = ['install', ...only, '--omit-lockfile-registry-resolved', '--fetch-retries=1']
  const shell = process.platform === 'win32' // there, npm is a script of the shell
  const { status, stderr, error } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8', shell })
  if (status === 0) return ''
  const reason = error === undefined ? stderr.trim().split('\n')[0] : 'there is no npm'
  return `It has no package-lock.json (${reason}). npm install writes it: commit it, because image and CI need it.\n`
}

function help({ command, example }: Origin): string {
  return `${command} <framework>/<role> <directory>   makes a project of one app

  --with NAME   adds an option, or several: --with nginx,kubernetes
  --name NAME   the npm name of the project; by default that of its directory

On a terminal it asks for what is missing. The directory must be new or empty.

The apps:

${listNames(APPS)}

The options:

${Object.entries(OPTIONS)
  .map(([name, title]) => `  ${name.padEnd(12)}${title}`)
  .join('\n')}

  ${example}
`
}
