import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
  const version = (name: string): string => pinned.get(name) ?? 'unknown'
  return {
    startgrid:
      tryRun('git', ['-C', ROOT, '--git-dir=.git', 'describe', '--always', '--dirty']) ??
      'not a git checkout',
    node: process.versions.node,
    bun: tryRun(`${ROOT}node_modules/.bin/bun`, ['--version']) ?? 'unknown',
    lockfile: createHash('sha256').update(lockfile).digest('hex').slice(0, 16),
    packages: Object.fromEntries(listPackages().map((name) => [name, version(name)])),
  }
}

/** What the apps are made of: the production dependencies of all frameworks and of what they share, without our own packages. */
function listPackages(): string[] {
  const names = globSync(['apps/*/package.json', 'packages/shared/package.json'], { cwd: ROOT }).flatMap(
    (file) => {
      const { dependencies = {} } = JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8')) as Manifest
      return Object.keys(dependencies)
    },
  )
  return [...new Set(names)].filter((name) => !name.startsWith('@startgrid/')).sort()
}

interface Manifest {
  dependencies?: Record<string, string>
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
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}
