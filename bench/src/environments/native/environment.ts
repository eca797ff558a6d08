import type { GeneratorOptions } from '@startgrid/loadgen'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { type CeilingServer, startNginxCeiling } from '../../drivers/ceiling.ts'
import type { Cell, NginxVersion, Settings } from '../../model/result.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import { findProxy, versionOf } from '../proxy.ts'
import type { Servers } from '../servers.ts'
import { startNativeServers } from './servers.ts'
import { fingerprintOf, proveNatively } from './suite.ts'

/** Servers, NGINX and generator are processes of this machine. */
export class NativeEnvironment implements Environment {
  readonly cores: Settings['cores']
  readonly generator: GeneratorOptions
  readonly facts = {}
  readonly #options: EnvironmentOptions
  #nginx: Nginx | undefined

  constructor(options: EnvironmentOptions) {
    this.#options = options
    this.cores = chooseCores(options.warn)
    this.generator = { cpu: this.cores?.generator }
  }

  async findProxy(cells: readonly Cell[]): Promise<NginxVersion | null> {
    this.#nginx = await findProxy(cells, this.#options)
    return this.#nginx ? versionOf(this.#nginx) : null
  }

  fingerprint(cell: Cell): string {
    const [framework = ''] = cell.app.split('/')
    return fingerprintOf([`apps/${framework}`], [cell.app.replace(/#\d+$/, ''), cell.topology], this.#nginx)
  }

  prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    return proveNatively(cells, { nginx: this.#nginx, signal: this.#options.signal })
  }

  async startCeiling(): Promise<CeilingServer | undefined> {
    const nginx = this.#nginx ?? (await this.#findLocalNginx())
    return nginx && startNginxCeiling(nginx, this.cores?.server)
  }

  startServers(cells: readonly Cell[]): Promise<Servers> {
    return startNativeServers(cells, { nginx: this.#nginx, cores: this.cores })
  }

  async close(): Promise<void> {}

  /** For the ceiling alone an NGINX that is here already is good enough. */
  async #findLocalNginx(): Promise<Nginx | undefined> {
    if (this.#options.signal.aborted) return undefined
    const found = await findNginx({ download: false })
    return found.kind === 'none' ? undefined : found
  }
}
