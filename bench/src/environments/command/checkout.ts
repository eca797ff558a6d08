import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
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
 * @param ref a branch, a tag or a commit; undefined: the working tree. Its untracked files are there too; ignored ones and submodules are not
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
  const directory = join(tree, git(['rev-parse', '--show-prefix'], ''))
  if (!existsSync(directory))
    throw new CheckoutError(`${capital(name)} does not have ${relative(tree, directory)}.`)
  const start = await prepare(tree, directory, name, options)
  const isChanged = ref === undefined && git(['status', '--porcelain'], '') !== ''
  return { directory, start, commit: `${commit.slice(0, 10)}${isChanged ? ' with changes' : ''}` }
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
  mkdirSync(objects)
  const common = gitIn(top)(['rev-parse', '--path-format=absolute', '--git-common-dir'], '')
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(common, 'objects') }
  const git = gitIn(top, { ...env, GIT_INDEX_FILE: `${objects}.index` })
  const sentence = 'What is not committed cannot be taken along.'
  git(['read-tree', 'HEAD'], sentence)
  git(['add', '--all'], sentence)
  gitIn(tree, env)(['read-tree', '--reset', '-u', git(['write-tree'], sentence)], sentence)
}

/** By lockfile: the package manager, and how it installs what is locked. */
const MANAGERS: Readonly<Record<string, readonly [name: string, ...install: string[]]>> = {
  'pnpm-lock.yaml': ['pnpm', 'install', '--frozen-lockfile'],
  'package-lock.json': ['npm', 'ci', '--no-audit', '--no-fund'],
  'npm-shrinkwrap.json': ['npm', 'ci', '--no-audit', '--no-fund'],
  'bun.lock': ['bun', 'install', '--frozen-lockfile'],
  'bun.lockb': ['bun', 'install', '--frozen-lockfile'],
  'yarn.lock': ['yarn', 'install', '--frozen-lockfile'],
}

interface Manifest {
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** Installs and builds. @returns what starts it; undefined if there is no package, or it does not say */
async function prepare(
  tree: string,
  directory: string,
  name: string,
  { guard, signal, say }: CheckoutOptions,
): Promise<string | undefined> {
  const run = async (command: readonly string[], place: string, failure: string) => {
    const reason = await runProgram(command, { directory: place, guard, signal })
    signal.throwIfAborted()
    if (reason !== undefined) throw new CheckoutError(`${failure}: ${reason}.`)
  }
  const path = join(directory, 'package.json')
  if (!existsSync(path)) return undefined
  const { scripts = {}, ...manifest } = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const lockfile = findLockfile(tree, directory)
  const [manager, ...install] = MANAGERS[basename(lockfile ?? '')] ?? ['npm']
  const command = commandOf(manager, lockfile)
  if (lockfile !== undefined) {
    say(`${name}: installing with ${manager}.`)
    await run([...command, ...install], dirname(lockfile), `The lockfile of ${name} does not install`)
  } else if (Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length > 0)
    throw new CheckoutError(
      `${capital(name)} has dependencies but no lockfile, so what it had is not known: commit one.`,
    )
  if (scripts.build !== undefined) {
    say(`${name}: building.`)
    await run([...command, 'run', 'build'], directory, `${capital(name)} cannot be built`)
  }
  return scripts.start === undefined ? undefined : [...command, 'start'].join(' ')
}

/** Beside the package, or of the workspace that it belongs to. */
function findLockfile(tree: string, directory: string): string | undefined {
  for (let at = directory; at.startsWith(tree); at = dirname(at)) {
    const found = Object.keys(MANAGERS).find((name) => existsSync(join(at, name)))
    if (found !== undefined) return join(at, found)
  }
  return undefined
}

/** Through npx where the package manager is not installed. A yarn of version 1 does not install what later ones locked. */
function commandOf(manager: string, lockfile = ''): string[] {
  if (lockfile.endsWith('yarn.lock') && /^__metadata:/m.test(readFileSync(lockfile, 'utf8')))
    return ['npx', '--yes', '--package=@yarnpkg/cli-dist@4', 'yarn']
  return manager === 'npm' || hasTool(manager) ? [manager] : ['npx', '--yes', manager]
}
