import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Where a result comes from. */
export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  os: string
  kernel: string
  /** CPU frequency governor; null where the kernel does not say (virtual machines, macOS). */
  governor: string | null
}

export function describeMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() || 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    os: readOsName(),
    kernel: `${os.type()} ${os.release()} ${os.machine()}`,
    governor: tryRead('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')?.trim() ?? null,
  }
}

function readOsName(): string {
  return (
    /^PRETTY_NAME="?([^"\n]+)/m.exec(tryRead('/etc/os-release') ?? '')?.[1] ?? `${os.type()} ${os.release()}`
  )
}

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

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export function readVersions(): Versions {
  const lockfile = readFileSync(`${ROOT}pnpm-lock.yaml`)
  const catalog = readCatalog()
  const version = (name: string): string => catalog.get(name) ?? 'unknown'
  const names = ['fastify', 'express', 'koa', 'hono', '@hono/node-server', 'react', 'pino']
  return {
    startgrid: tryRun('git', ['-C', ROOT, 'describe', '--always', '--dirty']) ?? 'not a git checkout',
    node: process.versions.node,
    bun: version('bun'),
    lockfile: createHash('sha256').update(lockfile).digest('hex').slice(0, 16),
    packages: Object.fromEntries(names.map((name) => [name, version(name)])),
  }
}

/** The exact versions that the workspace pins, by package. */
function readCatalog(): Map<string, string> {
  const [, catalog = ''] = readFileSync(`${ROOT}pnpm-workspace.yaml`, 'utf8').split(/^catalog:$/m)
  const lines = catalog.matchAll(/^ {2}'?([^\s']+)'?: (\S+)/gm)
  return new Map([...lines].map(([, name = '', version = '']) => [name, version]))
}

/**
 * The part of all cores, 0 to 1, that anyone used during 0.3 s in which we do nothing; undefined where unknown.
 * @param signal ends the wait early
 */
export async function foreignLoad(signal?: AbortSignal): Promise<number | undefined> {
  const before = readCpuTimes()
  await sleep(300, undefined, { ...(signal && { signal }) }).catch(() => {})
  const after = readCpuTimes()
  const total = after.total - before.total
  return total > 0 ? (after.busy - before.busy) / total : undefined
}

/** Milliseconds of all cores together, since the machine started. */
export function readCpuTimes(): { busy: number; total: number } {
  let busy = 0
  let total = 0
  for (const { times } of os.cpus()) {
    const used = times.user + times.nice + times.sys + times.irq
    busy += used
    total += used + times.idle
  }
  return { busy, total }
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function tryRun(file: string, args: string[]): string | undefined {
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}
