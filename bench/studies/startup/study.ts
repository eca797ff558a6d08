import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { launch } from '@startgrid/grid/launcher.ts'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { currentMemory, peakMemory, processTree } from '@startgrid/machine/processes.ts'
import { ask } from '@startgrid/servers/request.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Figures, ProbeContext, ProbeRace, Study } from '../../src/result/experiment.ts'

/** How long apps need to start, and their memory then: each alone, on one core, with Node's compile cache off and on. */

const ROLES = ['hello', 'ssr'] as const

/** With a compile cache that an earlier start has filled; Bun has none. */
const CACHED = 'cached'

const systems = new Map<string, { app: App; isCached: boolean }>(
  // NGINX starts njs, before anybody asks.
  APPS.filter(({ runtime, role }) => runtime !== 'nginx' && role !== 'status').flatMap((app) => [
    [app.name, { app, isCached: false }] as const,
    ...(app.runtime === 'node' ? [[`${app.name} ${CACHED}`, { app, isCached: true }] as const] : []),
  ]),
)

function raceOf(role: (typeof ROLES)[number]): ProbeRace {
  const names = [...systems].filter(([, { app }]) => app.role === role).map(([name]) => name)
  return { systems: names, probe: (name, context) => measure(name, context), expectedMs: 1000 }
}

async function measure(name: string, { signal }: ProbeContext): Promise<Figures> {
  const system = systems.get(name)
  if (system === undefined) throw new Error(`There is no system ${name}.`)
  if (!system.isCached) return startOnce(system.app, {})
  const env = { NODE_COMPILE_CACHE: cacheOf(system.app) }
  // Node writes it when a process ends. What is there already is not written again.
  if (!filled.has(name)) await startOnce(system.app, env)
  filled.add(name)
  signal.throwIfAborted()
  return startOnce(system.app, env)
}

const filled = new Set<string>()
let directory: string | undefined

function cacheOf({ name }: App): string {
  if (directory === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'startgrid-compile-cache-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    directory = made
  }
  return join(directory, name.replace('/', '-'))
}

/** @throws {Error} if it does not start, or does not respond with 200 */
async function startOnce(app: App, env: Readonly<Record<string, string>>): Promise<Figures> {
  const cpu = chooseCores(1, () => {})?.server
  const beganAt = performance.now()
  const launched = await launch(app, { env, cpu })
  try {
    const { status } = await ask(launched.target, WORKLOADS[app.role], 10_000)
    if (status !== 200) throw new Error(`${app.name} responds with status ${status}.`)
    const startup = (performance.now() - beganAt) / 1000
    const pids = processTree(launched.ready.pid)
    const ready = currentMemory(pids)
    const peak = peakMemory(pids)
    return { startup, ...(ready && { 'ready-memory': ready }), ...(peak && { 'peak-memory': peak }) }
  } finally {
    await launched.stop()
  }
}

/** See docs/choosing-a-framework.md. */
export const startup: Study = {
  name: 'startup',
  title: 'how long apps need to start, and their memory then',
  question: 'How long does each app need until its first right response, on one core, and how much memory?',
  systems: Object.fromEntries([...systems.keys()].map((name) => [name, { title: name }])),
  races: Object.fromEntries(ROLES.map((role) => [role, raceOf(role)])),
  claims: [],
}
