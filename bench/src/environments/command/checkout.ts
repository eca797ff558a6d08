import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import { capital } from '@startgrid/cli/text.ts'
import { hasTool } from '@startgrid/grid/launcher.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { runProgram } from './program.ts'

/** A commit of a repository, or its working tree with what is not committed, in a directory of its own: installed and built. */
export interface Checkout {
  /** Where the person's directory is in it. */
  directory: string
  /** What starts its server, if its package says so. */
  start: string | undefined
  /** Short, and whether there is more than that: `911d8404f7 with changes`. */
  commit: string
  /** Ignored files of the working tree that it lacks, such as `.env`. */
  lacks: readonly string[]
}

/** A ref that cannot be checked out, installed or built; the message is a sentence. */
export class CheckoutError extends ForeseenError {
  override name = 'CheckoutError'
}

export interface CheckoutOptions {
  /** Somewhere in the repository. */
  from: string
  guard: Guard
  signal: AbortSignal
  /** Told what takes long. */
  say(text: string): void
}

/**
 * @param ref a branch, a tag or a commit; undefined: the working tree. Its untracked files are there too, ignored ones are not
 * @throws {CheckoutError} with a sentence; the guard removes what is left
 */
export async function checkOut(ref: string | undefined, options: CheckoutOptions): Promise<Checkout> {
  const { from, guard } = options
  const git = gitIn(from)
  const top = git(['rev-parse', '--show-toplevel'], `${from} is not in a git repository: --git needs one.`)
  const name = ref ?? 'the working tree'
  const commit = git(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref ?? 'HEAD'}^{commit}`],
    ref === undefined
      ? 'This repository has no commit yet, so there is nothing to compare with.'
      : `There is no commit '${ref}' in this repository: git fetch it, or name another one.`,
  )
  const parent = mkdtempSync(join(tmpdir(), 'startgrid-race-'))
  guard.add({ directory: parent, repository: top })
  const tree = join(parent, (ref ?? 'working-tree').replace(/[^\w.-]/g, '-'))
  gitIn(top)(
    ['worktree', 'add', '--quiet', '--detach', tree, commit],
    `${capital(name)} cannot be checked out.`,
  )
  if (ref === undefined) takeChanges(top, tree, join(parent, 'objects'))
  addSubmodules(top, tree, name)
  const directory = join(tree, git(['rev-parse', '--show-prefix'], ''))
  if (!existsSync(directory))
    throw new CheckoutError(`${capital(name)} does not have ${relative(tree, directory)}.`)
  const start = await prepare(tree, directory, name, options)
  const isChanged = ref === undefined && git(['status', '--porcelain'], '') !== ''
  return {
    directory,
    start,
    commit: `${commit.slice(0, 10)}${isChanged ? ' with changes' : ''}`,
    lacks: ignoredEnvironment(top),
  }
}

/** @returns runs git there and gives its output; @throws {CheckoutError} with the sentence and git's last line */
function gitIn(directory: string, env: Readonly<Record<string, string>> = {}) {
  return (args: readonly string[], sentence: string): string => {
    const { status, stdout, stderr, error } = spawnSync('git', ['-C', directory, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...env, GIT_TERMINAL_PROMPT: '0' },
      maxBuffer: 1 << 28,
    })
    if (error !== undefined) throw new CheckoutError('git cannot be started: --git needs it.')
    if (status === 0) return stdout.replace(/\n$/, '')
    const reason = stderr.trim().split('\n').at(-1) ?? ''
    throw new CheckoutError(
      reason === '' || /not a git repository/.test(reason) ? sentence : `${sentence} git says: ${reason}`,
    )
  }
}

/** What is not committed, as a tree whose objects go with the directory: the repository stays as it is. */
function takeChanges(top: string, tree: string, objects: string): void {
  const dirty = gitIn(top)(['submodule', 'status', '--recursive'], '')
    .split('\n')
    .flatMap((line) => /^.\w+ (\S+)/.exec(line)?.[1] ?? [])
    .find((path) => gitIn(join(top, path))(['status', '--porcelain'], '') !== '')
  if (dirty !== undefined)
    throw new CheckoutError(
      `The submodule ${dirty} has changes that are not committed: commit them, then race.`,
    )
  mkdirSync(objects)
  const common = gitIn(top)(['rev-parse', '--path-format=absolute', '--git-common-dir'], '')
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(common, 'objects'),
  }
  const sentence = 'What is not committed cannot be taken along.'
  const index = { ...env, GIT_INDEX_FILE: `${objects}.index` }
  gitIn(top, index)(['read-tree', 'HEAD'], sentence)
  gitIn(top, index)(['add', '--all'], sentence)
  const written = gitIn(top, index)(['write-tree'], sentence)
  gitIn(tree, env)(['read-tree', '--reset', '-u', written], sentence)
}

/** From the clones that are here, if they are: commits that nobody pushed are in them. */
function addSubmodules(top: string, tree: string, name: string): void {
  if (!existsSync(join(tree, '.gitmodules'))) return
  const common = gitIn(top)(['rev-parse', '--path-format=absolute', '--git-common-dir'], '')
  const paths = gitIn(tree)(['config', '--file', '.gitmodules', '--get-regexp', '\\.path$'], '').split('\n')
  const local = paths.flatMap((line) => {
    const [, module = ''] = /^submodule\.(.*)\.path /.exec(line) ?? []
    const clone = join(common, 'modules', module)
    return existsSync(clone) ? ['-c', `submodule.${module}.url=${clone}`] : []
  })
  gitIn(tree)(
    ['-c', 'protocol.file.allow=always', ...local, 'submodule', '--quiet', 'update', '--init', '--recursive'],
    `The submodules of ${name} cannot be checked out.`,
  )
}

/** `.env` and the like, where they are ignored. */
function ignoredEnvironment(top: string): string[] {
  return gitIn(top)(['ls-files', '--others', '--ignored', '--exclude-standard', '--directory'], '')
    .split('\n')
    .filter((path) => /(?:^|\/)\.env(?:\.[^/]+)?$/.test(path))
}

interface Manager {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  lockfile: string
  /** What only its lockfile holds, where two have the same file. */
  has?: RegExp
  install: readonly string[]
}

const MANAGERS: readonly Manager[] = [
  { name: 'pnpm', lockfile: 'pnpm-lock.yaml', install: ['install', '--frozen-lockfile'] },
  { name: 'npm', lockfile: 'package-lock.json', install: ['ci', '--no-audit', '--no-fund'] },
  { name: 'npm', lockfile: 'npm-shrinkwrap.json', install: ['ci', '--no-audit', '--no-fund'] },
  { name: 'bun', lockfile: 'bun.lock', install: ['install', '--frozen-lockfile'] },
  { name: 'bun', lockfile: 'bun.lockb', install: ['install', '--frozen-lockfile'] },
  { name: 'yarn', lockfile: 'yarn.lock', has: /^__metadata:/m, install: ['install', '--immutable'] },
  { name: 'yarn', lockfile: 'yarn.lock', install: ['install', '--frozen-lockfile'] },
]

interface Manifest {
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** @returns what starts it; undefined if there is no package, or it does not say */
async function prepare(
  tree: string,
  directory: string,
  name: string,
  options: CheckoutOptions,
): Promise<string | undefined> {
  const path = join(directory, 'package.json')
  if (!existsSync(path)) return undefined
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const found = findLockfile(tree, directory)
  if (found === undefined) {
    const needs = { ...manifest.dependencies, ...manifest.devDependencies }
    if (Object.keys(needs).length > 0)
      throw new CheckoutError(
        `${capital(name)} has dependencies but no lockfile, so what it had is not known: commit one.`,
      )
  } else await install(found, name, tree, options)
  const command = found === undefined ? ['npm'] : commandOf(found)
  const { scripts = {} } = manifest
  if (scripts.build !== undefined) {
    options.say(`${name}: building.`)
    await run([...command, 'run', 'build'], directory, `${capital(name)} cannot be built`, options)
  }
  return scripts.start === undefined ? undefined : [...command, 'start'].join(' ')
}

interface Lockfile {
  manager: Manager
  directory: string
}

/** Beside the package, or of the workspace that it belongs to. */
function findLockfile(tree: string, directory: string): Lockfile | undefined {
  for (let at = directory; at.startsWith(tree); at = dirname(at)) {
    const manager = MANAGERS.find(({ lockfile, has }) => {
      const path = join(at, lockfile)
      return existsSync(path) && (has === undefined || has.test(readFileSync(path, 'utf8')))
    })
    if (manager !== undefined) return { manager, directory: at }
  }
  return undefined
}

/** Through npx where the package manager is not installed. A yarn of version 1 does not install what later ones locked. */
function commandOf({ manager: { name, has }, directory }: Lockfile): string[] {
  if (has !== undefined)
    return /^[2-9]\./.test(versionOf([name], directory))
      ? [name]
      : ['npx', '--yes', '--package=@yarnpkg/cli-dist@4', name]
  return name === 'npm' || hasTool(name) ? [name] : ['npx', '--yes', name]
}

/** Empty if it does not start. */
function versionOf([file = '', ...args]: readonly string[], directory: string): string {
  return spawnSync(file, [...args, '--version'], { encoding: 'utf8', cwd: directory }).stdout ?? ''
}

async function install(found: Lockfile, name: string, tree: string, options: CheckoutOptions): Promise<void> {
  const { manager, directory } = found
  const command = commandOf(found)
  const cached = join(cacheDirectory(), keyOf(manager, directory, tree, command))
  if (existsSync(cached)) {
    copy(cached, directory)
    return
  }
  options.say(`${name}: installing with ${manager.name}.`)
  await run([...command, ...manager.install], directory, `The lockfile of ${name} does not install`, options)
  keep(directory, cached)
}

/** All that decides what an install gives. */
function keyOf(manager: Manager, directory: string, tree: string, command: readonly string[]): string {
  const hash = createHash('sha256')
  for (const fact of [
    manager.name,
    versionOf(command, directory),
    process.version,
    process.platform,
    process.arch,
  ])
    hash.update(`${fact}\0`)
  const patterns = [manager.lockfile, ':(glob)**/package.json', ':(glob)**/.npmrc', ':(glob)**/*.patch']
  const files = gitIn(directory)(['ls-files', '--', ...patterns, 'pnpm-workspace.yaml', '.yarnrc.yml'], '')
  for (const path of files.split('\n').filter((one) => one !== ''))
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(directory, path)))
      .update('\0')
  // Yarn's Plug'n'Play has paths from there to a cache elsewhere.
  hash.update(`${relative(tree, directory)}\0${relative(directory, '/')}`)
  return hash.digest('hex').slice(0, 32)
}

function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'startgrid', 'installs')
}

/** All that git does not know, which is what the install made. It comes into the cache whole or not at all. */
function keep(directory: string, cached: string): void {
  mkdirSync(dirname(cached), { recursive: true })
  const place = mkdtempSync(`${cached}.`)
  const made = gitIn(directory)(['ls-files', '--others', '--directory'], '').split('\n')
  for (const path of made.filter((one) => one !== '')) copy(join(directory, path), join(place, path))
  try {
    renameSync(place, cached)
  } catch {
    rmSync(place, { recursive: true, force: true }) // somebody else was first
  }
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, force: true })
}

async function run(
  command: readonly string[],
  directory: string,
  failure: string,
  { guard, signal }: CheckoutOptions,
): Promise<void> {
  const reason = await runProgram(command, { directory, guard, signal })
  signal.throwIfAborted()
  if (reason !== undefined) throw new CheckoutError(`${failure}: ${reason}.`)
}
