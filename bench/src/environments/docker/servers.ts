import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '@startgrid/grid/apps.ts'
import { addressInside, FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { appOf } from '../../experiment/cells.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { LaunchRecord } from '../../model/heat.ts'
import type { Settings } from '../../model/settings.ts'
import { hostOf, type Server, type Servers, systemOf, whyMissing } from '../environment.ts'
import { beginContainerAccount, type ContainerProcesses, peakMemoryIn, visibleProcesses } from './account.ts'
import { docker, lastLine, runDocker } from './command.ts'
import type { Container, Engine, Labelled } from './engine.ts'
import { CEILING, type ComposeFile, composeHeat, frontAddress, renderFronts } from './project.ts'
import type { DockerRun } from './run.ts'

/** The containers of one heat, from `docker compose up` to `docker compose down`, as the generator's container sees them. */

interface HeatOptions {
  engine: Engine
  run: DockerRun
  file: ComposeFile
  experiment: Experiment
  /** Null: they may use all. */
  cores: Settings['cores']
  /** What runs njs, such as `qjs in NGINX 1.30.6`. */
  njsEngine: string | undefined
  signal: AbortSignal
}

/** What serves a cell. */
interface Parts {
  cell: Cell
  /** Undefined: NGINX is alone, and only tells the generator's ceiling. */
  app: App | undefined
  proxied: boolean
}

/** By service. */
interface Health {
  running: ReadonlyMap<string, Container>
  /** Why one does not run: a clause without the full stop. */
  failures: ReadonlyMap<string, string>
}

/** Milliseconds until a container must be healthy; on a busy machine Node takes seconds. */
const HEALTHY_WITHIN_MS = 60_000

/** Between two looks at those that are not healthy yet. */
const LOOK_MS = 100

/** Seconds that `docker compose down` leaves a server to drain. */
const DRAIN_SECONDS = 3

/**
 * Starts all containers at once and waits until each is healthy or has failed.
 * @throws {DockerError} if Compose refuses; then nothing is left
 */
export async function startContainers(cells: readonly Cell[], options: HeatOptions): Promise<Servers> {
  const { run, signal, experiment } = options
  const parts = cells.map((cell): Parts => {
    const { app, nginx } = systemOf(experiment, cell)
    return { cell, app: app && appOf(cell), proxied: nginx !== undefined }
  })
  // Under the names of cells, twins included.
  const apps = [...new Map(parts.flatMap(({ app }) => (app ? [[app.name, app] as const] : []))).values()]
  const proxied = parts.some((one) => one.proxied)
  const compose = ['compose', '--project-name', run.name, '--file', writeProject(parts, apps, options)]
  const stop = async () => {
    await runDocker([...compose, 'down', '--volumes', '--timeout', String(DRAIN_SECONDS)])
    return []
  }
  try {
    await docker([...compose, 'up', '--detach', '--no-build'], { signal, limitMs: HEALTHY_WITHIN_MS })
    const services = [...apps.map(({ name }) => hostOf(name)), ...(proxied ? [FRONT_SERVICE] : [])]
    const health = await awaitHealth(services, options)
    const all = { ...options, apps, health, generator: await findGenerator(options) }
    const failures = new Map<string, string>()
    const running = new Map<string, Server>()
    for (const one of parts) {
      const started = { app: one.app && hostOf(one.app.name), proxy: one.proxied ? FRONT_SERVICE : null }
      const reason = whyMissing(started, health.failures)
      if (reason === null) running.set(one.cell.id, serverOf(one, all))
      else failures.set(one.cell.id, reason)
    }
    return { running, failures, launches: (loaded) => launchesOf(loaded, apps, health), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @returns the path of the Compose file */
function writeProject(
  parts: readonly Parts[],
  apps: readonly App[],
  { run: { directory, name: network, labels }, file, cores }: HeatOptions,
): string {
  const nginxConfig = parts.some(({ proxied }) => proxied) ? `${directory}heat.conf` : undefined
  if (nginxConfig !== undefined) writeFileSync(nginxConfig, renderFronts(apps))
  const path = `${directory}compose.json`
  const project = composeHeat(file, { apps, nginxConfig, network, labels, cpu: cores?.server })
  writeFileSync(path, JSON.stringify(project, null, 2))
  return path
}

async function awaitHealth(
  services: readonly string[],
  { engine, run, signal }: Pick<HeatOptions, 'engine' | 'run' | 'signal'>,
): Promise<Health> {
  const started = new Map((await engine.containers(`${PROJECT_LABEL}=${run.name}`)).map(byService))
  const running = new Map<string, Container>()
  const failures = new Map<string, string>()
  const deadline = performance.now() + HEALTHY_WITHIN_MS
  for (;;) {
    for (const service of services.filter((name) => !running.has(name) && !failures.has(name))) {
      const container = await engine.container(started.get(service) ?? service)
      if (container.State.Health?.Status === 'healthy') running.set(service, container)
      else if (!container.State.Running) failures.set(service, await describeEnd(container))
      else if (performance.now() > deadline) failures.set(service, 'it is not healthy after a minute')
    }
    if (running.size + failures.size === services.length) return { running, failures }
    await sleep(LOOK_MS, undefined, { signal })
  }
}

const PROJECT_LABEL = 'com.docker.compose.project'
const SERVICE_LABEL = 'com.docker.compose.service'

function byService({ Id, Labels }: Labelled): [string, string] {
  return [Labels[SERVICE_LABEL] ?? '', Id]
}

/** Why a container no longer runs: a clause, with what it said last. */
async function describeEnd({ Id, State }: Container): Promise<string> {
  if (State.OOMKilled) return 'it ran out of the memory that docker-compose.yml allows'
  const { stdout, stderr } = await runDocker(['logs', '--tail', '5', Id])
  return `it ended with exit code ${State.ExitCode}: ${lastLine(stderr) || lastLine(stdout) || 'it said nothing'}`
}

async function findGenerator({ engine, run }: HeatOptions): Promise<ContainerProcesses> {
  const found = await engine.container(run.generator).catch(() => undefined)
  return { container: run.generator, pids: found && visibleProcesses(found.Id, found.State.Pid) }
}

interface Started extends HeatOptions {
  apps: readonly App[]
  health: Health
  /** Name of its container, and its processes. */
  generator: ContainerProcesses
}

function serverOf({ app, proxied }: Parts, started: Started): Server {
  const { engine, health, generator, cores, njsEngine, apps } = started
  const processesOf = (service: string): ContainerProcesses => {
    const container = health.running.get(service)
    if (container === undefined) return { container: service, pids: undefined }
    return { container: container.Id, pids: visibleProcesses(container.Id, container.State.Pid) }
  }
  const service = app === undefined ? FRONT_SERVICE : hostOf(app.name)
  const proxy = proxied && app !== undefined ? FRONT_SERVICE : null
  const behind = frontAddress(apps.findIndex(({ name }) => name === app?.name))
  return {
    target: app === undefined ? CEILING : proxied ? behind : addressInside(app, 'direct', service),
    engine: app?.runtime === 'nginx' ? njsEngine : undefined,
    whyEnded: async () => {
      const ofApp = await whyStopped(service, started)
      if (ofApp !== null) return `the app ${ofApp}`
      const ofProxy = proxy && (await whyStopped(proxy, started))
      return ofProxy && `NGINX ${ofProxy}`
    },
    beginAccount: () => {
      const parts = { app: processesOf(service), proxy: proxy && processesOf(proxy), generator }
      return beginContainerAccount(engine, { ...parts, cores })
    },
  }
}

/** @returns null while it runs */
async function whyStopped(service: string, { engine, health }: Started): Promise<string | null> {
  const id = health.running.get(service)?.Id
  if (id === undefined) return 'is not there'
  const state = await engine.container(id).then(
    ({ State }) => State,
    () => null,
  )
  if (state === null) return 'was removed'
  if (state.Running) return null
  return state.OOMKilled
    ? 'ran out of the memory that docker-compose.yml allows'
    : `ended with exit code ${state.ExitCode}`
}

async function launchesOf(
  cells: readonly Cell[],
  apps: readonly App[],
  { running }: Health,
): Promise<LaunchRecord[]> {
  const loaded = apps.filter(({ name }) => cells.some(({ app }) => app === name))
  const started = loaded.map((app): [string, string] => [app.name, hostOf(app.name)])
  if (running.has(FRONT_SERVICE)) started.push(['nginx', FRONT_SERVICE])
  return Promise.all(
    started.map(async ([app, service]) => ({
      app,
      peakMemory: await peakMemoryIn(running.get(service)?.Id ?? service),
    })),
  )
}
