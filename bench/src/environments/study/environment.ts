import { oneLine } from '@startgrid/cli/text.ts'
import { checkConformance } from '@startgrid/conformance'
import { APPS } from '@startgrid/grid/apps.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { chooseAllCores } from '@startgrid/machine/cores.ts'
import { peakMemory } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { type CeilingServer, startNginxCeiling } from '../../drivers/ceiling.ts'
import type { Driver } from '../../drivers/driver.ts'
import { fitToMachine } from '../../experiment/cells.ts'
import type { Experiment, System } from '../../model/experiment.ts'
import type { Cell, Cores, LaunchRecord, NginxVersion, Spread } from '../../model/result.ts'
import { proofOf } from '../conformance.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import { fingerprintOf } from '../native/suite.ts'
import { versionOf } from '../proxy.ts'
import { beginAccountOf, type EndAccount, type Servers } from '../servers.ts'
import { assignNginxes, equipStudy, findNginxes, isInNginx } from './nginxes.ts'
import { type RunningSystem, startSystem } from './running-system.ts'

/** Random inputs per check: the fixed ones count, and time is short. */
const SUITE_RUNS = 3

/** Systems that are proven together, for the suite mostly waits; an interpreted page of 1,000 items then takes seconds. */
const AT_ONCE = 6
const TIMEOUT_MS = 30_000

/** The systems of a study, as processes of this machine: several copies, clusters on several cores, an NGINX of their own. */
export class StudyEnvironment implements Environment {
  readonly cores: Required<Cores> | null
  readonly generator: GeneratorOptions
  readonly facts = {}
  readonly #options: EnvironmentOptions
  readonly #proofs = new Map<string, Promise<Proof | undefined>>()
  #study: Experiment
  #nginx: Nginx | undefined

  /** @param cells are given the cores that this machine has for them */
  constructor(study: Experiment, cells: readonly Cell[], options: EnvironmentOptions) {
    this.#study = study
    this.#options = options
    this.cores = chooseAllCores(options.warn)
    this.generator = { cpu: this.cores?.generator }
    fitToMachine(cells, this.cores?.servers.length ?? null)
  }

  /** The usual one, and others that single systems need. */
  async findProxy(cells: readonly Cell[]): Promise<NginxVersion | null> {
    if (this.#options.signal.aborted) return null
    const nginxes = await findNginxes(this.#study, this.#options)
    assignNginxes(this.#study, cells, nginxes)
    this.#study = equipStudy(this.#study, nginxes)
    this.#nginx = nginxes.usual
    return this.#nginx === undefined ? null : versionOf(this.#nginx)
  }

  fingerprint(cell: Cell): string {
    const { app, nginx } = this.#systemOf(cell)
    const own = ['bench/src/environments/study', ...(app === undefined ? [] : [app.package])]
    return fingerprintOf(own, [JSON.stringify({ app, nginx }), cell.nginx?.version], this.#nginx)
  }

  /** Each system once, however many races it is in. */
  async prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    const proofs = new Map<string, Proof>()
    const open = [...cells]
    const proveNext = async (): Promise<void> => {
      for (let cell = open.shift(); cell !== undefined; cell = open.shift()) {
        const proof = this.#proofs.get(cell.app) ?? this.#proveSystem(cell)
        this.#proofs.set(cell.app, proof)
        const found = await proof
        if (found !== undefined) proofs.set(cell.id, found)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, proveNext))
    return proofs
  }

  async startCeiling(): Promise<CeilingServer | undefined> {
    if (this.#options.signal.aborted) return undefined
    return this.#nginx && startNginxCeiling(this.#nginx, this.cores?.server)
  }

  async startServers(cells: readonly Cell[]): Promise<Servers> {
    const running = new Map<string, RunningSystem>()
    const failures = new Map<string, string>()
    await Promise.all(
      cells.map(async (cell) => {
        try {
          running.set(cell.id, await this.startSystem(cell, this.#cpusOf(cell)))
        } catch (error) {
          failures.set(cell.id, `it did not start: ${oneLine(error)}`)
        }
      }),
    )
    return new StudyServers(running, failures, this.cores)
  }

  /** @param cpus as taskset writes them; undefined: all; @throws {Error} with a sentence */
  startSystem(cell: Pick<Cell, 'app'>, cpus: string | undefined): Promise<RunningSystem> {
    return startSystem(this.#systemOf(cell), { nginx: this.#nginx, cpus })
  }

  async close(): Promise<void> {}

  #systemOf({ app }: Pick<Cell, 'app'>): System {
    const system = this.#study.systems[app]
    if (system === undefined) throw new Error(`The study ${this.#study.name} has no system ${app}.`)
    return system
  }

  /** As many of the servers' cores as it can use. */
  #cpusOf({ cores }: Cell): string | undefined {
    return this.cores?.servers.slice(0, cores.given).join(',')
  }

  /** @returns undefined after an abort, and for a system that no contract covers */
  async #proveSystem({ app: name, role }: Cell): Promise<Proof | undefined> {
    const { signal } = this.#options
    if (signal.aborted || role === null) return undefined
    try {
      const system = this.#systemOf({ app: name })
      const running = await this.startSystem({ app: name }, undefined)
      try {
        const proxied = system.nginx !== undefined || isInNginx(system)
        const isOfSystem = ({ directory, role: own }: (typeof APPS)[number]) =>
          own === role && directory.endsWith(`/${system.app?.package}`)
        const report = await checkConformance({
          target: running.target,
          role,
          absent: APPS.find(isOfSystem)?.absent ?? [],
          proxied,
          runs: SUITE_RUNS,
          timeoutMs: TIMEOUT_MS,
          signal,
        })
        return proofOf(report)
      } finally {
        await running.stop()
      }
    } catch (error) {
      return signal.aborted ? undefined : { checked: 0, differences: [oneLine(error)] }
    }
  }
}

class StudyServers implements Servers {
  readonly #running: ReadonlyMap<string, RunningSystem>
  readonly #failures: ReadonlyMap<string, string>
  readonly #cores: Required<Cores> | null
  #spreads: Spread[] = []

  constructor(
    running: ReadonlyMap<string, RunningSystem>,
    failures: ReadonlyMap<string, string>,
    cores: Required<Cores> | null,
  ) {
    this.#running = running
    this.#failures = failures
    this.#cores = cores
  }

  target({ id }: Cell) {
    return this.#running.get(id)?.target
  }

  whyMissing({ id }: Cell): string {
    return this.#failures.get(id) ?? 'it was not started'
  }

  engine(): null {
    return null
  }

  async whyEnded({ id }: Cell): Promise<string | null> {
    return this.#running.get(id)?.whyEnded() ?? null
  }

  async beginAccount({ id }: Cell, driver: Pick<Driver, 'pids'>): Promise<EndAccount> {
    const running = this.#running.get(id)
    return beginAccountOf({
      app: running?.appPids(),
      proxy: running?.proxyPids() ?? [],
      generator: driver.pids(),
      cores: this.#cores,
    })
  }

  async launches(cells: readonly Cell[]): Promise<LaunchRecord[]> {
    return cells.flatMap(({ id, app }) => {
      const pids = this.#running.get(id)?.appPids()
      return pids === undefined ? [] : [{ app, peakMemory: peakMemory(pids) ?? null }]
    })
  }

  async stop(): Promise<void> {
    const stopped = await Promise.all(
      [...this.#running].map(async ([cell, running]) => ({ cell, requests: await running.stop() })),
    )
    this.#spreads = stopped.flatMap(({ cell, requests }) => (requests === null ? [] : [{ cell, requests }]))
  }

  spreads(): Spread[] {
    return this.#spreads
  }
}
