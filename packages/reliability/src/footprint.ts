import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '@startgrid/cli/until.ts'
import type { App } from '@startgrid/grid/apps.ts'
import type { Launch, LaunchOptions } from '@startgrid/grid/launcher.ts'
import { readOr } from '@startgrid/machine/proc.ts'
import { currentMemory, serverPids } from '@startgrid/machine/processes.ts'

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
  if (app.runtime === 'nginx') {
    const memory = currentMemory(serverPids(launched))
    if (memory === undefined)
      throw new Error(`The memory of ${app.name} can be seen on Linux only, while it runs.`)
    return { memory, timers: undefined }
  }
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
  const filesOf = (pid: number) => readOr(0, () => readdirSync(`/proc/${pid}/fd`).length)
  return serverPids(launched).reduce((sum, pid) => sum + filesOf(pid), 0)
}
