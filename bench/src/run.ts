import os from 'node:os'
import { hasTool } from '@startgrid/grid/launcher.ts'
import { ROLES } from '@startgrid/grid/matrix.ts'
import { type LoadGenerator, startGenerator } from '@startgrid/loadgen'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import { createCells } from './cell.ts'
import { runHeat } from './heat.ts'
import { describeMachine, foreignLoad, readVersions } from './machine.ts'
import type { Options } from './options.ts'
import type { Progress } from './progress.ts'
import { createRandom, shuffle } from './random.ts'
import type { NginxVersion, Result, Settings } from './results.ts'
import { createMeasured, type Measured, summarise } from './summary.ts'

/** Above this, others use so much of the machine that rates say little. */
const BUSY = 0.1

/**
 * Measures the chosen cells, heat by heat in random order.
 * @param save called with the result so far after every heat: an interruption loses the heat in flight at most
 */
export async function runBench(
  options: Options,
  command: string,
  progress: Progress,
  save: (result: Result) => void,
  signal: AbortSignal,
): Promise<Result> {
  const cautions: string[] = []
  const warn = (text: string): void => {
    cautions.push(text)
    progress.say(text)
  }
  await checkLoad(warn)
  const nginx = await lookForNginx(options, warn, progress)
  const cores = chooseCores(warn)
  const measured = createCells(options.apps, options.topologies).map(createMeasured)
  const generator = await startGenerator(cores ? { cpu: cores.generator } : {})
  const result: Result = {
    schema: 1,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    command,
    seed: options.seed,
    machine: describeMachine(),
    versions: readVersions(),
    nginx: nginx ? versionOf(nginx) : null,
    driver: { name: 'startgrid', ceiling: null },
    settings: settingsOf(options, cores),
    cautions,
    cells: [],
  }
  try {
    if (nginx) result.driver.ceiling = await measureCeiling(nginx, generator, result.settings, warn)
    await runHeats({ options, measured, nginx, generator, cores, progress, signal }, () => {
      result.cells = summarise(measured)
      save(result)
    })
  } finally {
    await generator.stop()
    result.cells = summarise(measured)
    if (!signal.aborted) result.finishedAt = new Date().toISOString()
    save(result)
  }
  return result
}

interface Course {
  options: Options
  measured: readonly Measured[]
  nginx: Nginx | undefined
  generator: LoadGenerator
  cores: Settings['cores']
  progress: Progress
  signal: AbortSignal
}

/** Every round has one heat per role; all of them in one shuffled order, so that a slow minute does not hit one role alone. */
async function runHeats(course: Course, afterHeat: () => void): Promise<void> {
  const { options, measured, progress, signal } = course
  const random = createRandom(options.seed)
  const roles = ROLES.filter((role) => options.apps.some((app) => app.role === role))
  const rounds = Array.from({ length: options.rounds }, (_, index) => index + 1)
  const heats = shuffle(
    roles.flatMap((role) => rounds.map((round) => ({ role, round }))),
    random,
  )
  for (const [index, { role, round }] of heats.entries()) {
    if (signal.aborted) return
    const step = `heat ${index + 1} of ${heats.length}: ${role}, round ${round}`
    progress.update(index / heats.length, step)
    await runHeat({
      role,
      round,
      measured: measured.filter((one) => one.cell.app.role === role),
      nginx: course.nginx,
      generator: course.generator,
      cpu: course.cores?.server,
      connections: options.connections,
      durationMs: options.durationMs,
      warmupMs: options.warmupMs,
      random,
      signal,
      onProgress: (done) => progress.update((index + done) / heats.length, step),
    })
    afterHeat()
  }
  progress.update(1, 'done')
}

async function checkLoad(warn: (text: string) => void): Promise<void> {
  const load = await foreignLoad()
  if (load === undefined || load <= BUSY) return
  const percent = Math.round(load * 100)
  warn(`Other programs use ${percent} % of this machine: close them, or read the rates as lower bounds.`)
}

async function lookForNginx(
  { topologies, apps, download }: Options,
  warn: (text: string) => void,
  progress: Progress,
): Promise<Nginx | undefined> {
  const needed =
    topologies.some((topology) => topology !== 'direct') || apps.some((app) => app.framework === 'njs')
  if (!needed) return undefined
  const found = await findNginx({ download })
  if (found.kind === 'none') {
    warn(`The cells behind NGINX and the njs apps are skipped. ${found.describe()}`)
    return undefined
  }
  progress.say(`Using ${found.describe()}.`)
  return found
}

/** Servers on the first core, the generator on the last: neither pays for the other. */
function chooseCores(warn: (text: string) => void): Settings['cores'] {
  const cores = os.availableParallelism()
  if (cores < 2) {
    warn(
      'This machine has one core: servers and generator share it, so rates are far below what a server can do.',
    )
    return null
  }
  if (!hasTool('taskset')) {
    warn(
      'Processes cannot be pinned to cores here (that takes Linux and taskset): the system moves them about.',
    )
    return null
  }
  return { server: 0, generator: cores - 1 }
}

/** What the generator can ask for at most: NGINX's `return 200` costs next to nothing. Answers per second. */
async function measureCeiling(
  nginx: Nginx,
  generator: LoadGenerator,
  { cores, connections }: Settings,
  warn: (text: string) => void,
): Promise<number | null> {
  const upstream = { host: '127.0.0.1', port: 1 } // never asked
  const fronts = [
    { name: 'ceiling', topology: 'nginx', listen: { host: '127.0.0.1', port: 0 }, upstream },
  ] as const
  try {
    const instance = await startNginx(nginx, { fronts, ...(cores && { cpus: String(cores.server) }) })
    try {
      const [target] = instance.addresses
      if (target === undefined) return null
      const load = await generator.run({
        target,
        path: CEILING_PATH,
        connections,
        warmupMs: 500,
        durationMs: 1000,
      })
      return load.rate
    } finally {
      await instance.stop()
    }
  } catch (error) {
    warn(`The generator's ceiling was not measured: ${error instanceof Error ? error.message : error}`)
    return null
  }
}

const CEILING_PATH = '/ceiling'

function settingsOf(
  { rounds, durationMs, warmupMs, connections }: Options,
  cores: Settings['cores'],
): Settings {
  return { rounds, durationMs, warmupMs, connections, cores }
}

function versionOf({ kind, version, njs }: Nginx): NginxVersion {
  return { kind, version, njs: njs ? { version: njs.version, engine: njs.engine } : null }
}
