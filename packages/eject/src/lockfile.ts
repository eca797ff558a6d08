import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from './file-error.ts'
import { toJson } from './manifest.ts'
import { RunError, run } from './run.ts'

const ARGUMENTS = [
  'install',
  '--package-lock-only',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  // Otherwise the lockfile names the registry of this machine, which others may not reach.
  '--omit-lockfile-registry-resolved',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
]

/**
 * Writes package-lock.json. Nothing is installed.
 * @returns undefined, or why there is none: half a sentence
 */
export async function writeLockfile(directory: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    // On Windows, npm is a script of the shell.
    await run('npm', ARGUMENTS, { cwd: directory, signal, shell: process.platform === 'win32' })
    const path = join(directory, 'package-lock.json')
    await writeFile(path, completeLockfile(await readFile(path, 'utf8')))
    return undefined
  } catch (error) {
    if (!(error instanceof RunError)) throw error
    if (hasCode(error.cause, 'ENOENT')) return 'there is no npm'
    const code = /\bE(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|NETUNREACH|HOSTUNREACH)\b/.exec(error.message)?.[0]
    if (code !== undefined) return `the registry of npm cannot be reached (${code})`
    const [reason = ''] = error.message.split('\n').filter((line) => line.startsWith('npm error'))
    return `npm says: ${reason.replace('npm error ', '')}`
  }
}

interface Lockfile {
  packages: Record<string, LockedPackage>
}

interface LockedPackage {
  version: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  libc?: string[]
  optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * Adds the optional packages that npm left out. It does so if the registry lacks one, as mirrors often do for other systems. Then `npm ci`
 * would refuse the lockfile everywhere. The added entries have no integrity, and npm ignores them on every system but their own.
 */
export function completeLockfile(text: string): string {
  const lockfile = JSON.parse(text) as Lockfile
  const names = new Set(Object.keys(lockfile.packages).map((path) => path.replace(/^.*node_modules\//, '')))
  const added: Record<string, LockedPackage> = {}
  for (const { dev, optionalDependencies = {} } of Object.values(lockfile.packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      if (names.has(name)) continue
      const os = /\b(?:aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)\b/.exec(name)
      added[`node_modules/${name}`] = {
        version: range.replace(/^[~^]/, ''),
        ...(dev ? { dev } : {}),
        optional: true,
        ...(os === null ? {} : { os: [os[0]] }),
        ...(name.endsWith('-musl') ? { libc: ['musl'] } : {}),
      }
    }
  }
  if (Object.keys(added).length === 0) return text
  const entries = Object.entries({ ...lockfile.packages, ...added })
  const packages = Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
  return toJson({ ...lockfile, packages })
}
