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
  /** CPU frequency governor; undefined where the kernel does not say (virtual machines, macOS). */
  governor: string | undefined
}

export function describeMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() || 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    os: readOsName(),
    kernel: `${os.type()} ${os.release()} ${os.machine()}`,
    governor: tryRead('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')?.trim(),
  }
}

function readOsName(): string {
  return (
    /^PRETTY_NAME="?([^"\n]+)/m.exec(tryRead('/etc/os-release') ?? '')?.[1] ?? `${os.type()} ${os.release()}`
  )
}

/** What was measured: versions by name, and the hash of the lockfile that fixes the rest. */
export interface Versions {
  startgrid: string
  node: string
  bun: string
  lockfile: string
  packages: Record<string, string>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export function readVersions(): Versions {
  const lockfile = readFileSync(`${ROOT}pnpm-lock.yaml`)
  const catalog = readFileSync(`${ROOT}pnpm-workspace.yaml`, 'utf8')
  const version = (name: string): string =>
    new RegExp(`^  '?${name.replace('/', '\\/')}'?: (\\S+)`, 'm').exec(catalog)?.[1] ?? 'unknown'
  const names = ['fastify', 'express', 'koa', 'hono', '@hono/node-server', 'react', 'pino']
  return {
    startgrid: tryRun('git', ['-C', ROOT, 'describe', '--always', '--dirty']) ?? 'not a git checkout',
    node: process.versions.node,
    bun: version('bun'),
    lockfile: createHash('sha256').update(lockfile).digest('hex').slice(0, 16),
    packages: Object.fromEntries(names.map((name) => [name, version(name)])),
  }
}

/** The part of all cores, 0 to 1, that anyone used during a second in which we do nothing; undefined where unknown. */
export async function foreignLoad(): Promise<number | undefined> {
  const before = readCpuTimes()
  await sleep(1000)
  const after = readCpuTimes()
  const total = after.total - before.total
  return total > 0 ? (after.busy - before.busy) / total : undefined
}

function readCpuTimes(): { busy: number; total: number } {
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
