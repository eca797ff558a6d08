import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { ForeseenError } from '@startgrid/cli/arguments.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { personsEnvironment, runProgram, versionOf } from '@startgrid/servers/program.ts'
import type { Commit } from '../../result/figures.ts'

/** A commit of a repository, or its working tree with what is not committed, in a directory of its own: installed and built. */
export interface Checkout {
  /** Where the person's directory is in it. */
  directory: string
  /** What starts its server, if its package says so. */
  start: string | undefined
  /** Of that: the programs of its packages are on its PATH. */
  env: Readonly<Record<string, string>>
  /** What installed and built it; undefined if nothing had to. */
  manager: string | undefined
  /** Versions by name, if no lockfile says them; else empty. */
  unlocked: ReadonlyMap<string, string>
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
  /** Run in the root of the workspace, instead of what the lockfile says. */
  install: string | undefined
  /** The same, instead of the build script. */
  build: string | undefined
  /** Told what takes long. */
  say(text: string): void
  /** Of commits that come one after the other: trees that are installed, by what was. The next one that needs the same takes the place of the last. */
  kept?: Map<string, string>
}

/**
 * @param ref a branch, a tag or a commit; undefined: the working tree. Its untracked files are there too; ignored ones and submodules are not
 * @throws {CheckoutError} with a sentence; the guard removes what is left
 */
export async function checkOut(ref: string | undefined, options: CheckoutOptions): Promise<Checkout> {
  const { from, guard, kept } = options
  const git = gitIn(from)
  const top = git(['rev-parse', '--show-toplevel'], `${from} is not in a git repository: --git needs one.`)
  const name = ref ?? 'the working tree'
  const commit = hashOf(ref, from)
  const installed = whatInstalls(commit, top)
  const old = kept?.get(installed)
  const parent = old === undefined ? mkdtempSync(join(tmpdir(), 'startgrid-race-')) : dirname(old)
  guard.add({ directory: parent })
  // Of equal length on both sides: the size of the environment moves the stack, and with it the speed (Mytkowicz et al. 2009).
  const tree = join(parent, 'tree')
  const sentence = `git cannot check out ${name}.`
  // A clone, so that scripts find a .git as they have it, and change nothing of the person's.
  if (old === undefined) gitIn(parent)(['clone', '--quiet', '--shared', '--no-checkout', top, tree], sentence)
  else gitIn(tree)(['clean', '--quiet', '-ffdx', '--exclude=node_modules'], sentence)
  gitIn(tree)(['checkout', '--quiet', '--force', '--detach', commit], sentence)
  if (ref === undefined) takeChanges(top, tree)
  const directory = join(tree, git(['rev-parse', '--show-prefix'], ''))
  if (!existsSync(directory)) throw new CheckoutError(`There is no ${relative(tree, directory)} in ${name}.`)
  const prepared = await prepare(tree, directory, name, { ...options, isInstalled: old !== undefined })
  if (options.install === undefined && !doesMoreThanInstall(tree)) kept?.set(installed, tree)
  const isChanged = ref === undefined && git(['status', '--porcelain'], '') !== ''
  return { ...prepared, directory, commit: `${commit.slice(0, 10)}${isChanged ? ' with changes' : ''}` }
}

/** @throws {CheckoutError} if there is no such commit */
function hashOf(ref: string | undefined, from: string): string {
  return gitIn(from)(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref ?? 'HEAD'}^{commit}`],
    ref === undefined
      ? 'This repository has no commit yet, so there is nothing to compare with.'
      : `There is no commit '${ref}' in this repository: git fetch it, or name another one.`,
  )
}

/** The versions of all files that say what is installed. */
function whatInstalls(commit: string, top: string): string {
  const files = gitIn(top)(['ls-tree', '-r', '--full-tree', commit], '').split('\n')
  const own =
    /(^|[\t/])(package\.json|npm-shrinkwrap\.json|package-lock\.json|yarn\.lock|bun\.lockb?|pnpm-[\w-]+\.yaml|\.(npmrc|yarnrc|pnpmfile)[\w.]*)$|[\t/](patches|\.yarn)\//
  return files.filter((file) => own.test(file)).join('\n')
}

/** Scripts that an installation runs may build something of the commit, and Plug'n'Play keeps packages elsewhere. */
function doesMoreThanInstall(tree: string): boolean {
  const scripts = '"((pre|post)?install|(pre|post)?prepare|prepublish)" *:'
  const { status } = spawnSync('git', ['-C', tree, 'grep', '--quiet', '-E', scripts, '--', '*package.json'])
  return status !== 1 || readdirSync(tree).some((name) => name.startsWith('.pnp.'))
}

/**
 * Commits after the good one up to the bad one, the oldest first. A merged branch is one commit.
 * @throws {CheckoutError} with a sentence, if there is nothing to be searched
 */
export function readHistory([good = '', bad = '']: readonly string[], from: string): Commit[] {
  const git = gitIn(from)
  const noRepository = `${from} is not in a git repository: --git needs one.`
  if (git(['rev-parse', '--is-shallow-repository'], noRepository) === 'true')
    throw new CheckoutError('This clone is shallow, so commits are missing: type git fetch --unshallow.')
  const [start, end] = [hashOf(good, from), hashOf(bad, from)]
  const base = git(['merge-base', start, end], `${good} and ${bad} have no commit in common.`)
  if (base !== start)
    throw new CheckoutError(
      base === end
        ? `${bad} is older than ${good}: name the older one first, --git ${bad} --git ${good}.`
        : `${good} is not an ancestor of ${bad}, so the change may be on either side: begin where they part, with --git ${base.slice(0, 10)}.`,
    )
  const commits = commitsIn(start, end, from)
  if (commits.length > 1) return commits
  throw new CheckoutError(
    `From ${good} to ${bad} it is ${commits.length === 0 ? 'no' : 'one'} commit, so there is nothing to search: race them without --bisect.`,
  )
}

/** What a merge has brought, without the merge; none of any other commit. */
export function readBranch(merge: string, from: string): Commit[] {
  const [, , other] = gitIn(from)(['rev-list', '--parents', '-1', merge], '').split(' ')
  return other === undefined ? [] : commitsIn(`${merge}^1`, other, from)
}

function commitsIn(after: string, upTo: string, from: string): Commit[] {
  const words = `log --first-parent --reverse --abbrev=10 --format=%h%x09%cI%x09%s ${after}..${upTo}`
  const lines = gitIn(from)(words.split(' '), 'The history cannot be read.').split('\n')
  return lines.flatMap((line) => {
    const [hash = '', date = '', ...title] = line.split('\t')
    return hash === '' ? [] : { hash, date, title: title.join(' ').replace(/\p{C}/gu, ''), starts: [] }
  })
}

/** Of a repository in one of whose hooks we run. */
const OF_HOOK = { GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_INDEX_FILE: undefined }

/** @returns runs git there and gives its output; @throws {CheckoutError} with the sentence and git's last line */
function gitIn(directory: string, env: Readonly<Record<string, string>> = {}) {
  return (args: readonly string[], sentence: string): string => {
    const words = ['-C', directory, '-c', 'core.hooksPath=/dev/null', ...args]
    const { status, stdout, stderr, error } = spawnSync('git', words, {
      encoding: 'utf8',
      env: { ...process.env, ...OF_HOOK, ...env, GIT_TERMINAL_PROMPT: '0' },
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

/** What is not committed, as objects of the clone: the repository stays as it is. */
function takeChanges(top: string, tree: string): void {
  const common = gitIn(top)(['rev-parse', '--path-format=absolute', '--git-common-dir'], '')
  const own = join(tree, '.git')
  const git = gitIn(top, {
    GIT_OBJECT_DIRECTORY: join(own, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(common, 'objects'),
    GIT_INDEX_FILE: join(own, 'changes'),
  })
  const sentence = 'What is not committed cannot be taken along.'
  git(['read-tree', 'HEAD'], sentence)
  git(['add', '--all'], sentence)
  gitIn(tree)(['read-tree', '--reset', '-u', git(['write-tree'], sentence)], sentence)
}

/** By lockfile: the package manager, and how it installs what is locked. */
const LOCKFILES: Readonly<Record<string, readonly [manager: string, ...install: string[]]>> = {
  'pnpm-lock.yaml': ['pnpm', 'install', '--frozen-lockfile'],
  'package-lock.json': ['npm', 'ci', '--no-audit', '--no-fund'],
  'npm-shrinkwrap.json': ['npm', 'ci', '--no-audit', '--no-fund'],
  'bun.lock': ['bun', 'install', '--frozen-lockfile'],
  'bun.lockb': ['bun', 'install', '--frozen-lockfile'],
  'yarn.lock': ['yarn', 'install', '--frozen-lockfile'],
}

interface Manifest {
  name?: string
  version?: string
  config?: Record<string, string>
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  packageManager?: string
  workspaces?: unknown
}

/** Installs and builds. */
async function prepare(
  tree: string,
  directory: string,
  name: string,
  { guard, signal, install: asked, build, say, isInstalled }: CheckoutOptions & { isInstalled: boolean },
): Promise<Pick<Checkout, 'start' | 'env' | 'manager' | 'unlocked'>> {
  const { scripts = {}, ...own } = manifestIn(directory)
  const root = rootOf(tree, directory)
  const lockfile = Object.keys(LOCKFILES).find((file) => existsSync(join(root, file)))
  const { packageManager, ...all } = manifestIn(root)
  const named = /^(npm|pnpm|yarn|bun)@[\w.-]+/.exec(packageManager ?? '')
  const usual = existsSync(join(root, 'pnpm-workspace.yaml')) ? 'pnpm' : 'npm'
  const [manager, ...install] = LOCKFILES[lockfile ?? ''] ?? [named?.[1] ?? usual, 'install']
  const command = commandOf(manager, root, named?.[0])
  const run = async (words: readonly string[], place: string, failure: string) => {
    const reason = await runProgram(words, { directory: place, guard, signal })
    signal.throwIfAborted()
    if (reason !== undefined) throw new CheckoutError(`${failure}: ${reason}${remedyFor(reason, manager)}.`)
  }
  const wanted = [own, all].flatMap((one) => Object.keys({ ...one.dependencies, ...one.devDependencies }))
  const installs = asked !== undefined || lockfile !== undefined || wanted.length > 0
  if (installs && !isInstalled) {
    const tool = versionOf(manager, root) ?? named?.[0].replace(/^.*@/, '') ?? ''
    const how = `${manager} ${tool}`.trim() + (lockfile === undefined ? ', without a lockfile' : '')
    say(`${name}: installing ${asked === undefined ? `with ${how}` : 'as --install says'}.`)
    const words = asked === undefined ? [...command, ...install] : ['sh', '-c', asked]
    await run(words, root, `The packages of ${name} do not install`)
  }
  if (build !== undefined || scripts.build !== undefined) {
    say(`${name}: building.`)
    const failure = `The build of ${name} fails`
    if (build === undefined) await run([...command, 'run', 'build'], directory, failure)
    else await run(['sh', '-c', build], root, failure)
  }
  const { prestart, start, poststart } = scripts
  // The script itself, so that the memory and start-up of the package manager do not count; not where that does more than run it.
  const isPlain =
    !(prestart || poststart || /npm_config/.test(start ?? '')) && !existsSync(join(root, '.pnp.cjs'))
  const bins = [directory, root].map((place) => join(place, 'node_modules', '.bin'))
  const { PATH: path } = personsEnvironment()
  return {
    start: start === undefined || isPlain ? start : [...command, 'start'].join(' '),
    env: {
      ...(start !== undefined && isPlain && environmentOfStart(own, directory)),
      PATH: [...new Set(bins), path].join(delimiter),
    },
    manager: installs || build !== undefined ? manager : undefined,
    unlocked: lockfile === undefined ? packagesIn(root) : new Map(),
  }
}

/** What a server may read that `npm start` starts: https://docs.npmjs.com/cli/using-npm/scripts#environment */
function environmentOfStart({ name = '', version = '', config = {} }: Manifest, directory: string) {
  const settings = Object.entries(config).map(([key, value]) => [`npm_package_config_${key}`, String(value)])
  return {
    ...Object.fromEntries(settings),
    npm_package_name: name,
    npm_package_version: version,
    npm_package_json: join(directory, 'package.json'),
    npm_lifecycle_event: 'start',
    INIT_CWD: directory,
  }
}

const OTHER_NODE = /No such built-in module|UNKNOWN_BUILTIN_MODULE|requires at least Node|UNSUPPORTED_ENGINE/i

/** Of a package manager that needs a newer Node. */
function remedyFor(reason: string, manager: string): string {
  if (!OTHER_NODE.test(reason)) return ''
  return `: this ${manager} or package needs another Node than yours (${versionOf('node', '.') ?? 'none'}); put that first on PATH, or say with --install how an older one installs`
}

function manifestIn(directory: string): Manifest {
  const path = join(directory, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : {}
}

/** Where what the package needs is installed: the nearest lockfile or workspace. */
function rootOf(tree: string, directory: string): string {
  const marks = [...Object.keys(LOCKFILES), 'pnpm-workspace.yaml']
  for (let at = directory; at.startsWith(tree); at = dirname(at))
    if (marks.some((file) => existsSync(join(at, file))) || manifestIn(at).workspaces !== undefined) return at
  return directory
}

/** Through npx where the person has no such package manager. A yarn of version 1 does not install what later ones locked. */
function commandOf(manager: string, root: string, named = manager): string[] {
  const lock = join(root, 'yarn.lock')
  if (manager === 'yarn' && existsSync(lock) && /^__metadata:/m.test(readFileSync(lock, 'utf8')))
    return ['npx', '--yes', '--package=@yarnpkg/cli-dist@4', 'yarn']
  const isThere = manager === 'npm' || versionOf(manager, root) !== undefined
  return isThere ? [manager] : ['npx', '--yes', named.startsWith(`${manager}@`) ? named : manager]
}

function packagesIn(root: string): Map<string, string> {
  const modules = join(root, 'node_modules')
  return new Map(
    globSync(['*', '@*/*'], { cwd: modules }).flatMap((name) => {
      const { version } = manifestIn(join(modules, name))
      return version === undefined ? [] : [[name, version]]
    }),
  )
}

const MOST_NAMED = 10

/** What was installed in other versions, because no lockfile says which: a sentence or two; undefined if there was a lockfile on both sides. */
export function whatDiffers(names: readonly string[], sides: readonly Checkout[]): string | undefined {
  const unlocked = sides.map((side) => side.unlocked)
  if (unlocked.every(({ size }) => size === 0)) return undefined
  const packages = [...new Set(unlocked.flatMap((side) => [...side.keys()]))].toSorted()
  const different = packages.flatMap((name) => {
    const versions = unlocked.map((side) => side.get(name) ?? 'none')
    return new Set(versions).size === 1 ? [] : `${name} (${versions.join(', ')})`
  })
  const more = different.length - MOST_NAMED
  const listed = `${different.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const others = `other versions of ${plural(different.length, 'package')}: ${listed}`
  const what = different.length === 0 ? 'the same packages' : others
  return `Without a lockfile, what the registry has today was installed: ${names.join(' and ')} have ${what}.`
}

/**
 * A command in which files that only the person has, such as a benchmark beside the repository, are named by their whole paths.
 * @param from where the person typed
 */
export function withFilesOf(command: string, from: string, sides: readonly Checkout[]): string {
  return command.replace(/(?<=^|[\s'"=])[\w@.][\w@.+/-]*[./][\w@.+/-]*/g, (word) => {
    const isIn = (place: string) => statSync(resolve(place, word), { throwIfNoEntry: false })?.isFile()
    if (!isIn(from) || sides.every(({ directory }) => isIn(directory))) return word
    const path = resolve(from, word)
    return /^[\w@.+/-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
  })
}
