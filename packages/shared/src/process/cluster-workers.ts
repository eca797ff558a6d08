import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from './cluster-backoff.ts'
import { type WorkerEnd, WorkerProcess } from './cluster-process.ts'
import type { Served } from './cluster-worker.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'

/** What one worker served from its start to its end; null if it could not say any more. */
export interface Share {
  worker: number
  pid: number | undefined
  served: Served | null
}

/** The workers of a cluster: always as many as wanted, each replaced when it ends. */
export class Workers {
  readonly #config: Config
  readonly #log: Logger
  readonly #running = new Set<WorkerProcess>()
  readonly #draining = new AbortController()
  #address = ''
  #env: Readonly<Record<string, string>> = {}

  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
  }

  /**
   * Resolves with the address once all listen. One goes ahead: it shows whether the settings are right and, if the system is to pick
   * the port, which one the others share.
   * @throws {StartError} if one ends before it listened; the others are killed
   */
  async start(): Promise<string> {
    try {
      const first = this.#fork()
      this.#address = await first.listening
      const others = Array.from({ length: this.#config.workers - 1 }, () => this.#fork())
      await Promise.all(others.map((worker) => worker.listening))
      for (const worker of [first, ...others]) void this.#keep(worker)
      return this.#address
    } catch (error) {
      this.kill()
      throw error
    }
  }

  pids(): number[] {
    return [...this.#running].flatMap(({ name }) => name.pid ?? [])
  }

  /**
   * Resolves when all have answered what they had in flight, and ended.
   * @throws {Error} if one ended in another way
   */
  async drain(): Promise<Share[]> {
    this.#draining.abort()
    const workers = [...this.#running]
    for (const worker of workers) worker.drain()
    const ends = await Promise.all(workers.map(({ ended }) => ended))
    const unclean = workers.filter((_, index) => !isClean(ends[index]))
    if (unclean.length > 0) throw new Error(`Not drained: workers ${unclean.map((one) => one.name.worker)}`)
    return workers.map(({ name }, index) => ({ ...name, served: ends[index]?.served ?? null }))
  }

  /** At once, whatever they do. */
  kill(): void {
    this.#draining.abort()
    for (const worker of this.#running) worker.kill()
  }

  #fork(): WorkerProcess {
    // node:cluster shares one socket among all who ask for the same port, until the last of them ends. So where the system picked the
    // port, all ask for 0 as long as one runs, and for the port that was announced once there is none.
    if (this.#config.cluster === 'reuse-port' || this.#running.size === 0) this.#env = portOf(this.#address)
    const worker = new WorkerProcess(this.#env)
    this.#running.add(worker)
    void worker.ended.then(() => this.#running.delete(worker))
    return worker
  }

  /** Replaces a worker, and what replaces it, until the cluster drains. */
  async #keep(worker: WorkerProcess): Promise<void> {
    const backoff = new Backoff()
    const { signal } = this.#draining
    for (let current = worker; ; current = this.#replace()) {
      const end = await current.ended
      if (signal.aborted) return
      const restartMs = backoff.next(end.servedMs)
      this.#log.error({ ...current.name, ...end, restartMs }, 'worker ended')
      await sleep(restartMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
    }
  }

  #replace(): WorkerProcess {
    const worker = this.#fork()
    void worker.listening.then(
      (address) => {
        if (this.#draining.signal.aborted) return
        // The last worker ended while this one started: it got another port.
        if (address !== this.#address) worker.kill()
        else this.#log.info(worker.name, 'worker listening')
      },
      () => {},
    )
    return worker
  }
}

/** One that was still starting had nothing to answer. */
function isClean(end: WorkerEnd | undefined): boolean {
  return end?.code === 0 || end?.servedMs === 0
}

/** Has a worker listen on the port of this address; nothing for that of a unix socket. */
function portOf(address: string): Record<string, string> {
  const port = /^http:.*:(\d+)$/.exec(address)?.[1]
  return port === undefined ? {} : { PORT: port }
}
