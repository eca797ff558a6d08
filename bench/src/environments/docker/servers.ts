import { oneLine } from '@startgrid/cli/text.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { addressInside, FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import { appOf, isInNginx } from '../../experiment/cells.ts'
import type { Cell, LaunchRecord, Settings } from '../../model/result.ts'
import type { EndAccount, Servers } from '../servers.ts'
import {
  type ContainerProcesses,
  compareReadings,
  type Subject,
  takeFirst,
  takeSecond,
  visibleProcesses,
} from './account.ts'
import type { Engine } from './engine.ts'
import { frontAddress } from './front.ts'
import type { HeatContainers } from './heat.ts'
import { peakMemoryIn } from './memory-peak.ts'
import { hostOf } from './project.ts'

interface DockerServersOptions {
  engine: Engine
  containers: HeatContainers
  apps: readonly App[]
  /** Name of the generator's container, and its processes. */
  generator: ContainerProcesses
  cores: Settings['cores']
  /** What runs njs, such as `qjs in NGINX 1.30.6`. */
  njsEngine: string | null
}

/** The containers of a heat, as the generator's container sees them. */
export class DockerServers implements Servers {
  readonly #options: DockerServersOptions

  constructor(options: DockerServersOptions) {
    this.#options = options
  }

  target(cell: Cell): Target | undefined {
    const { apps, containers } = this.#options
    const host = hostOf(appOf(cell))
    if (!containers.running.has(host)) return undefined
    if (cell.topology === 'direct') return addressInside(appOf(cell), 'direct', host)
    const index = apps.findIndex(({ name }) => name === cell.app)
    return containers.running.has(FRONT_SERVICE) ? frontAddress(index) : undefined
  }

  whyMissing(cell: Cell): string {
    const failure = this.#options.containers.failures.get(hostOf(appOf(cell)))
    return failure === undefined ? 'there is no NGINX' : `the app did not start: ${oneLine(failure)}`
  }

  engine(cell: Cell): string | null {
    return isInNginx(cell) ? this.#options.njsEngine : null
  }

  async whyEnded(cell: Cell): Promise<string | null> {
    const app = await this.#whyStopped(hostOf(appOf(cell)))
    if (app !== null) return `the app ${app}`
    const proxy = cell.topology === 'direct' ? null : await this.#whyStopped(FRONT_SERVICE)
    return proxy === null ? null : `NGINX ${proxy}`
  }

  async beginAccount(cell: Cell): Promise<EndAccount> {
    const { engine, generator, cores } = this.#options
    const subject: Subject = {
      app: this.#processesOf(hostOf(appOf(cell))),
      proxy: cell.topology === 'direct' ? null : this.#processesOf(FRONT_SERVICE),
      generator,
      cores,
    }
    const before = await takeFirst(engine, subject)
    return async () => {
      const after = await takeSecond(engine, subject)
      return (own) => compareReadings(before, after, own)
    }
  }

  async launches(cells: readonly Cell[]): Promise<LaunchRecord[]> {
    const { running } = this.#options.containers
    const apps = new Map(cells.map((cell) => [cell.app, hostOf(appOf(cell))]))
    const started = [...apps, ...(running.has(FRONT_SERVICE) ? [['nginx', FRONT_SERVICE] as const] : [])]
    return Promise.all(
      started.map(async ([app, service]) => ({
        app,
        peakMemory: await peakMemoryIn(running.get(service)?.Id ?? service),
      })),
    )
  }

  stop(): Promise<void> {
    return this.#options.containers.stop()
  }

  #processesOf(service: string): ContainerProcesses {
    const container = this.#options.containers.running.get(service)
    if (container === undefined) return { container: service, pids: undefined }
    return { container: container.Id, pids: visibleProcesses(container.Id, container.State.Pid) }
  }

  /** @returns null while it runs */
  async #whyStopped(service: string): Promise<string | null> {
    const { engine, containers } = this.#options
    const id = containers.running.get(service)?.Id
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
}
