import { execFileSync, type ExecFileSyncOptionsWithStringEncoding as Options } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readOr } from './proc.ts'

/** What was measured: versions by name, and the hash of the lockfile that fixes the rest. */
export interface Versions {
  /** Commit, with `-dirty` after it if files differ from it. */
  startgrid: string
  node: string
  bun: string
  /** First 16 hexadecimal digits of its SHA-256. */
  lockfile: string
  packages: Record<string, string>
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** As of the first call: what runs was loaded by then. */
export function readVersions(): Versions {
  known ??= findVersions()
  return structuredClone(known)
}

let known: Versions | undefined

/** Of the package: what it was packed from. */
const PACKED = new URL('versions.json', import.meta.url)

function findVersions(): Versions {
  if (existsSync(PACKED))
    return { ...(JSON.parse(readFileSync(PACKED, 'utf8')) as Versions), node: process.versions.node }
  const lockfile = readFileSync(`${ROOT}pnpm-lock.yaml`)
  const pinned = readPinned()
  const describe = ['-C', ROOT, '--git-dir=.git', 'describe', '--always', '--dirty']
  return {
    startgrid: tryRun('git', describe) ?? 'not a git checkout',
    node: process.versions.node,
    bun: tryRun(`${ROOT}node_modules/.bin/bun`, ['--version']) ?? 'unknown',
    lockfile: createHash('sha256').update(lockfile).digest('hex').slice(0, 16),
    packages: Object.fromEntries(listPackages().map((name) => [name, pinned.get(name) ?? 'unknown'])),
  }
}

/** What the apps are made of: the production dependencies of all frameworks and of what they share, without our own packages. */
function listPackages(): string[] {
  const files = globSync(['apps/*/package.json', 'packages/shared/package.json'], { cwd: ROOT })
  const manifests = files.map(
    (file) => JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8')) as { dependencies?: object },
  )
  const names = manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies))
  return [...new Set(names)].filter((name) => !name.startsWith('@startgrid/')).sort()
}

/** The exact versions that pnpm-workspace.yaml pins, by package. */
export function readPinned(): Map<string, string> {
  const [, catalog = ''] = readFileSync(`${ROOT}pnpm-workspace.yaml`, 'utf8').split(/^catalog:$/m)
  const lines = catalog.matchAll(/^ {2}['"]?([^\s'"]+)['"]?: (\S+)/gm)
  return new Map([...lines].map(([, name = '', version = '']) => [name, version]))
}

/** The versions in a phrase. */
export function describeVersions({ node, bun, packages }: Versions): string {
  const names = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
  return [`Node ${node}`, `Bun ${bun}`, ...names].join(', ')
}

function tryRun(file: string, args: string[]): string | undefined {
  const options: Options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
  return readOr(undefined, () => execFileSync(file, args, options).trim())
}

/**
 * One hash of files and facts. While it stays the same, results that depend on them stay valid.
 * @param paths files and directories, relative to the repository. Directories count with their sources and build output, but without
 * tests and installed packages (the lockfile covers those).
 * @returns 32 hexadecimal digits
 */
export function fingerprint(paths: readonly string[], facts: readonly (string | undefined)[] = []): string {
  const hash = createHash('sha256')
  for (const path of paths.flatMap(filesOf)) hash.update(`${path}\0`).update(readFileSync(`${ROOT}${path}`))
  return hash.update(facts.join('\0')).digest('hex').slice(0, 32)
}

function filesOf(path: string): string[] {
  if (!statSync(`${ROOT}${path}`).isDirectory()) return [path]
  const names = readdirSync(`${ROOT}${path}`).filter((name) => !IGNORED.test(name))
  return names.sort().flatMap((name) => filesOf(`${path}/${name}`))
}

/** Hidden, or what `pnpm typecheck` remembers. */
const IGNORED = /^(?:node_modules|test|\..*|.*\.tsbuildinfo)$/
