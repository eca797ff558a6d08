import { oneLine } from '@startgrid/cli/text.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { chooseAllCores } from '@startgrid/machine/cores.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { cpuSeconds, listenersOf, peakMemory, processTree } from '@startgrid/machine/processes.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import type { Driver } from '../../drivers/driver.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { Cell, Cores, LaunchRecord } from '../../model/result.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import { beginAccountOf, type EndAccount, type Servers } from '../servers.ts'
import { addressOf, whySilent } from '../target/origin.ts'
import { type CommandServer, startCommand } from './server.ts'

/** Servers that nobody here wrote: commands, and what runs already on this machine. */
export class CommandEnvironment implements Environment {
  readonly cores: Required<Cores> | null
  readonly generator: GeneratorOptions
  readonly facts = {}
  readonly #experiment: Experiment
  readonly #signal: AbortSignal
  readonly #guard: Guard
  readonly #random = createRandom(Date.now() % 2 ** 32)
  /** Commands that did not heed SIGTERM once are not asked for long again. */
  readonly #deaf = new Set<string>()

  /** @param guard is closed with this; @param cores of servers that may be used */
  constructor(experiment: Experiment, guard: Guard, cores: number, { warn, signal }: EnvironmentOptions) {
    this.#experiment = experiment
    this.#guard = guard
    this.#signal = signal
    const found = chooseAllCores(warn)
    this.cores = found && { ...found, servers: found.servers.slice(0, cores) }
    this.generator = { cpu: found?.generator }
  }

  async findProxy(): Promise<null> {
    return null
  }

  fingerprint(): null {
    return null
  }

  /** No contract covers them: the pilot compares what they send. */
  async prove(): Promise<ReadonlyMap<string, Proof>> {
    return new Map<string, Proof>()
  }

  async startCeiling(): Promise<undefined> {
    return undefined
  }

  /** One after the other, in random order, so that each has the core for its start. */
  async startServers(cells: readonly Cell[]): Promise<Servers> {
    const running = new Map<string, Running>()
    const failures = new Map<string, string>()
    for (const cell of shuffle(cells, this.#random)) {
      try {
        running.set(cell.id, await this.#start(cell))
      } catch (error) {
        if (this.#signal.aborted) break
        failures.set(cell.id, error instanceof Error ? error.message : oneLine(error))
      }
    }
    return new CommandServers(running, failures, this.cores)
  }

  close(): Promise<void> {
    return this.#guard.close()
  }

  async #start({ app }: Cell): Promise<Running> {
    const { command, running } = this.#experiment.systems[app] ?? {}
    if (running !== undefined) return startedElsewhere(running.origin)
    if (command === undefined) throw new Error('it has no command')
    const server = await startCommand(command, {
      guard: this.#guard,
      cpus: this.cores?.servers.join(','),
      signal: this.#signal,
      ...(this.#deaf.has(app) && { graceMs: 100 }),
    })
    const stop = async () => {
      if (await server.stop()) this.#deaf.add(app)
    }
    return { ...server, whyEnded: async () => server.whyEnded() ?? null, stop }
  }
}

interface Running extends Pick<CommandServer, 'target' | 'pids'> {
  startup?: number
  readyMemory?: number | undefined
  whyEnded(): Promise<string | null>
  stop(): Promise<void>
}

/** Nothing is started there, and nothing stopped. */
function startedElsewhere(origin: string): Running {
  const target = addressOf(origin)
  const roots = listenersOf(target)
  return {
    target,
    pids: () => roots.flatMap(processTree),
    whyEnded: async () => {
      const reason = await whySilent(origin)
      return reason === null ? null : `it no longer responds (${reason})`
    },
    stop: async () => {},
  }
}

/** A process that used less than this part of the busiest one's CPU, such as a package manager or a primary, does not work. */
const WORKS = 0.25

/** How many of these have worked since they were started. */
function workers(pids: readonly number[]): number {
  const used = pids.map((pid) => cpuSeconds([pid]) ?? 0)
  const most = Math.max(0, ...used)
  return used.filter((seconds) => seconds > most * WORKS).length
}

class CommandServers implements Servers {
  readonly #running: ReadonlyMap<string, Running>
  readonly #failures: ReadonlyMap<string, string>
  readonly #cores: Required<Cores> | null

  constructor(
    running: ReadonlyMap<string, Running>,
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
    const pids = this.#running.get(id)?.pids() ?? []
    return beginAccountOf({
      app: pids.length > 0 ? pids : undefined,
      proxy: [],
      generator: driver.pids(),
      cores: this.#cores,
    })
  }

  async launches(cells: readonly Cell[]): Promise<LaunchRecord[]> {
    return cells.flatMap(({ id, app }) => {
      const running = this.#running.get(id)
      if (running === undefined) return []
      const { startup, readyMemory, pids } = running
      const processes = workers(pids())
      return [
        {
          app,
          peakMemory: peakMemory(pids()) || null,
          ...(startup !== undefined && { startup }),
          ...(readyMemory !== undefined && { readyMemory }),
          ...(processes > 0 && { processes }),
        },
      ]
    })
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((one) => one.stop()))
  }
}
