import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '@startgrid/cli/until.ts'
import type { App } from '@startgrid/grid/apps.ts'
import type { Launch, LaunchOptions } from '@startgrid/grid/launcher.ts'
import { serverPids } from '@startgrid/machine/processes.ts'

/** What an app holds. */
export interface Footprint {
  /** Bytes: its JavaScript heap, and what belongs to it, after a garbage collection; of njs, the resident memory of NGINX. */
  readonly memory: number
  /** Timers that keep a Node process alive; undefined elsewhere. */
  readonly timers: number | undefined
}

/** The options that have an app's runtime load a file of `fixtures/preload/` first; the app does not know. */
export function preload({ runtime }: Pick<App, 'runtime'>, name: string): string[] {
  const file = fileURLToPath(new URL(`../fixtures/preload/${name}.ts`, import.meta.url))
  return [runtime === 'bun' ? '--preload' : '--import', file]
}

/** Launch options for an app of which `footprintOf` is to be asked. */
export function measurable(app: App): Pick<LaunchOptions, 'execArgv'> {
  if (app.runtime === 'nginx') return {}
  const collector = app.runtime === 'bun' ? [] : ['--expose-gc']
  return { execArgv: [...collector, ...preload(app, 'footprint')] }
}

/** @throws {Error} if the app does not tell within a minute, or cannot be looked at */
export async function footprintOf(app: App, launched: Launch): Promise<Footprint> {
  if (app.runtime === 'nginx') return { memory: residentMemory(launched), timers: undefined }
  const before = reports(launched).length
  launched.child.kill('SIGCONT')
  await until('the app does not tell what it holds', () => reports(launched).length > before, 60)
  const { memory, timers } = JSON.parse(reports(launched).at(-1) ?? '')
  return { memory, timers: app.runtime === 'bun' ? undefined : timers }
}

function reports({ output }: Launch): string[] {
  return output()
    .split('\n')
    .filter((line) => line.includes('"msg":"footprint"'))
}

/** Open files and sockets of the processes that serve; undefined where there is no /proc. */
export function countFiles(launched: Launch): number | undefined {
  if (process.platform !== 'linux') return undefined
  return serverPids(launched).reduce((sum, pid) => sum + filesOf(pid), 0)
}

/** Open files and sockets of a process; 0 where there is no /proc, or when it has ended. */
function filesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** Bytes of the processes that serve. @throws {Error} without /proc */
function residentMemory(launched: Launch): number {
  if (process.platform !== 'linux')
    throw new Error(`The memory of ${launched.app.name} can be seen on Linux only.`)
  return serverPids(launched).reduce((sum, pid) => sum + residentOf(pid), 0)
}

/** Bytes; 0 when the process has ended. */
function residentOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    return Number(kilobytes ?? 0) * 1024
  } catch {
    return 0
  }
}
