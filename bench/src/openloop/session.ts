import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError, type LoadResult } from '@startgrid/loadgen'
import type { Random } from '@startgrid/stats/random.ts'
import type { StartgridDriver } from '../drivers/startgrid.ts'
import type { Environment } from '../environments/environment.ts'
import type { Servers } from '../environments/servers.ts'
import { isDisturbed } from '../judge/gates/interference.ts'
import { isQuiet, type LoadSpec, trialOf } from '../judge/trial.ts'
import { CellFailure, failIfEnded } from '../measure/slice.ts'
import type { CellSpec, Trial } from '../model/result.ts'
import type { Workload } from '../model/workload.ts'
import { WARMUP_SLICE_MS } from '../plan/cells.ts'
import { capacityMs } from '../plan/open-loop-effort.ts'
import { learnLength, WORKLOADS } from '../plan/workloads.ts'

export interface SessionOptions {
  cell: CellSpec
  /** From 1, per cell. */
  launch: number
  environment: Pick<Environment, 'startServers'>
  driver: StartgridDriver
  signal: AbortSignal
  /** Of arrivals: no two loads have the same ones. */
  random: Random
  /** Called with every trial, used or not. */
  record(trial: Trial): void
}

/** Allowed to an answer where nothing else is said. */
const TIMEOUT_MS = 10_000

/** Loads that were disturbed are repeated at once this often in one launch; what is still missing then takes another launch. */
const REPEATS = 3

/** One fresh launch of one cell under load. */
export class Session {
  readonly cell: CellSpec
  readonly #options: SessionOptions
  readonly #servers: Servers
  readonly #beganAt = performance.now()
  #workload: Workload
  /** Answers per second in closed loop, as last seen. */
  #rate = 0
  #repeatsLeft = REPEATS

  private constructor(options: SessionOptions, servers: Servers) {
    this.cell = options.cell
    this.#options = options
    this.#servers = servers
    this.#workload = WORKLOADS[options.cell.role]
  }

  /**
   * Starts the app, and NGINX if the cell needs it, and warms them.
   * @throws {CellFailure} if they do not start, or no load can be offered
   */
  static async start(options: SessionOptions): Promise<Session> {
    const servers = await options.environment.startServers([options.cell]).catch((error: unknown) => {
      throw new CellFailure(`the servers did not start: ${oneLine(error)}`)
    })
    const session = new Session(options, servers)
    try {
      await session.#warm()
      return session
    } catch (error) {
      await session.stop()
      throw error
    }
  }

  stop(): Promise<void> {
    return this.#servers.stop()
  }

  /** The closed-loop rate just now, in answers per second; null if others disturbed it each time. */
  async capacity(): Promise<number | null> {
    const durationMs = capacityMs(this.#rate, this.cell)
    const trial = await this.takeQuiet({ purpose: 'capacity', level: 'closed loop', durationMs })
    if (!isQuiet(trial)) return null
    this.#rate = trial.achieved
    return this.#rate
  }

  /** Offers a load, and once more if it was disturbed. @returns the last trial */
  async takeQuiet(spec: LoadSpec): Promise<Trial> {
    const trial = await this.take(spec)
    if (isQuiet(trial) || this.#repeatsLeft === 0) return trial
    this.#repeatsLeft--
    return this.take(spec)
  }

  /**
   * Offers one load and records it.
   * @throws {CellFailure} if it cannot be offered, or a server is no longer there
   * @throws the signal's reason after an abort
   */
  async take(spec: LoadSpec): Promise<Trial> {
    const { cell, launch, driver, record } = this.#options
    const at = (performance.now() - this.#beganAt) / 1000
    const endAccount = await this.#servers.beginAccount(cell, driver)
    const load = await this.#offer(spec)
    const own = { cpuSeconds: load.cpu.seconds, waitSeconds: load.self.waitSeconds }
    const { cpuSeconds, disturbance } = (await endAccount())(own)
    const frame = { cell: cell.id, launch, at, cpuSeconds, disturbance, disturbed: isDisturbed(disturbance) }
    const trial = trialOf(load, spec, frame)
    record(trial)
    return trial
  }

  /**
   * In several short loads: connections that were opened while the server was cold stay slow, so that after a single long load Node
   * would still be a fifth slower on the next ones than after it.
   */
  async #warm(): Promise<void> {
    const { cell, driver } = this.#options
    const target = this.#servers.target(cell)
    if (target === undefined) throw new CellFailure(this.#servers.whyMissing(cell))
    cell.engine ??= this.#servers.engine(cell)
    await driver.start()
    this.#workload = await learnLength(this.#workload, target, driver)
    for (let spent = 0; spent < cell.warmupMs; spent += WARMUP_SLICE_MS)
      this.#rate = (
        await this.#offer({ purpose: 'capacity', level: 'warm-up', durationMs: WARMUP_SLICE_MS })
      ).rate
    if (this.#rate === 0) throw new CellFailure('no request was answered')
  }

  async #offer({ rate, durationMs, connections, timeoutMs, seriesMs }: LoadSpec): Promise<LoadResult> {
    const { cell, driver, signal, random } = this.#options
    const target = this.#servers.target(cell)
    if (target === undefined) throw new CellFailure('it cannot be reached')
    const load = await driver
      .offer({
        target,
        path: this.#workload.path,
        connections: connections ?? cell.connections,
        durationMs,
        timeoutMs: timeoutMs ?? TIMEOUT_MS,
        expect: { status: 200, body: this.#workload.expect, checkEvery: 100 },
        seed: Math.floor(random() * 2 ** 32),
        signal,
        ...(rate !== undefined && { rate }),
        ...(seriesMs !== undefined && { seriesMs }),
      })
      .catch((error: unknown) => {
        if (error instanceof LoadError) return new CellFailure(`no load could be offered: ${oneLine(error)}`)
        throw error
      })
    // Ctrl-C reaches the apps as well; what they then did to the load is not theirs.
    await nextTurn()
    signal.throwIfAborted()
    await failIfEnded(this.#servers, cell)
    if (load instanceof CellFailure) throw load
    return load
  }
}
