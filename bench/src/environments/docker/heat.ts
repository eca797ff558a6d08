import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { docker, lastLine, runDocker } from './command.ts'
import type { Container, Engine, Labelled } from './engine.ts'
import { renderFronts } from './front.ts'
import { type ComposeFile, composeHeat, hostOf } from './project.ts'
import type { DockerRun } from './run.ts'

/** The containers of one heat, from `docker compose up` to `docker compose down`. */

interface HeatOptions {
  engine: Engine
  run: DockerRun
  file: ComposeFile
  apps: readonly App[]
  /** Whether an NGINX stands in front. */
  proxied: boolean
  cpu: number | undefined
  signal: AbortSignal
}

export interface HeatContainers {
  /** By service: those that are healthy. */
  running: ReadonlyMap<string, Container>
  /** Why a service does not run: a clause without the full stop. */
  failures: ReadonlyMap<string, string>
  stop(): Promise<void>
}

/** Milliseconds until a container must be healthy; on a busy machine Node takes seconds. */
const HEALTHY_WITHIN_MS = 60_000

/** Between two looks at those that are not healthy yet. */
const LOOK_MS = 100

/** Seconds that `docker compose down` leaves a server to drain. */
const DRAIN_SECONDS = 3

/**
 * Starts all containers at once and waits until each is healthy or has failed.
 * @throws {DockerError} if Compose refuses, or NGINX does not come up; then nothing is left
 */
export async function startHeat(options: HeatOptions): Promise<HeatContainers> {
  const { run, signal } = options
  const compose = ['compose', '--project-name', run.name, '--file', writeProject(options)]
  const stop = async () => {
    await runDocker([...compose, 'down', '--volumes', '--timeout', String(DRAIN_SECONDS)])
  }
  try {
    await docker([...compose, 'up', '--detach', '--no-build'], { signal, limitMs: HEALTHY_WITHIN_MS })
    const containers = await awaitHealth(options)
    const front = containers.failures.get(FRONT_SERVICE)
    if (front !== undefined) throw new Error(`NGINX does not start: ${front}.`)
    return { ...containers, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @returns the path of the Compose file */
function writeProject({ run, file, apps, proxied, cpu }: HeatOptions): string {
  const { directory, name: network, labels } = run
  const nginxConfig = proxied ? `${directory}heat.conf` : undefined
  if (nginxConfig !== undefined) writeFileSync(nginxConfig, renderFronts(apps))
  const path = `${directory}compose.json`
  writeFileSync(path, JSON.stringify(composeHeat(file, { apps, nginxConfig, network, labels, cpu }), null, 2))
  return path
}

async function awaitHealth({
  engine,
  run,
  apps,
  proxied,
  signal,
}: HeatOptions): Promise<Omit<HeatContainers, 'stop'>> {
  const expected = [...apps.map(hostOf), ...(proxied ? [FRONT_SERVICE] : [])]
  const started = new Map((await engine.containers(`${PROJECT_LABEL}=${run.name}`)).map(byService))
  const running = new Map<string, Container>()
  const failures = new Map<string, string>()
  const deadline = performance.now() + HEALTHY_WITHIN_MS
  for (;;) {
    for (const service of expected.filter((name) => !running.has(name) && !failures.has(name))) {
      const container = await engine.container(started.get(service) ?? service)
      if (container.State.Health?.Status === 'healthy') running.set(service, container)
      else if (!container.State.Running) failures.set(service, await describeEnd(container))
      else if (performance.now() > deadline) failures.set(service, 'it is not healthy after a minute')
    }
    if (running.size + failures.size === expected.length) return { running, failures }
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
