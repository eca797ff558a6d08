import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../process/log.ts'
import { Backoff } from './cluster-backoff.ts'
import { type WorkerEnd, WorkerProcess } from './cluster-process.ts'
import type { Served } from './cluster-worker.ts'
import type { LaunchConfig } from './config.ts'

/** What one worker served from its start to its end; null if it could not report. */
interface Share {
  worker: number
  pid: number | undefined
  served: Served | null
}

/** The workers of a cluster. Their number is constant: each is replaced when it ends. */
export class Workers {
  readonly #config: LaunchConfig
  readonly #log: Logger
  readonly #running = new Set<WorkerProcess>()
  readonly #draining = new AbortController()
  #address = ''
  #env: Readonly<Record<string, string>> = {}

  constructor(config: LaunchConfig, log: Logger) {
    this.#config = config
    this.#log = log
  }

  /**
   * Starts the workers, and resolves with the address when all listen. One starts first: it shows whether the settings are valid. If the
   * system picks the port, the other workers share the port of the first.
   * @throws {StartError} if a worker ends before it listens; the others are killed
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
   * Resolves when all workers have finished the responses in flight, and ended.
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

  /** Ends all workers at once, without draining. */
  kill(): void {
    this.#draining.abort()
    for (const worker of this.#running) worker.kill()
  }

  #fork(): WorkerProcess {
    // node:cluster shares one socket among the workers that ask for the same port, until the last of them ends. So if the system picked
    // the port, workers ask for 0 while another one runs. When none runs, they ask for the port that was announced.
    if (this.#config.cluster === 'reuse-port' || this.#running.size === 0) this.#env = portOf(this.#address)
    const worker = new WorkerProcess(this.#env)
    this.#running.add(worker)
    void worker.ended.then(() => this.#running.delete(worker))
    return worker
  }

  /** Replaces a worker when it ends, again and again, until the cluster drains. */
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
        // The last other worker ended while this one started, so this one got a new port.
        if (address !== this.#address) worker.kill()
        else this.#log.info(worker.name, 'worker listening')
      },
      () => {},
    )
    return worker
  }
}

/** Whether a worker ended as intended. A worker that was still starting had no responses to finish. */
function isClean(end: WorkerEnd | undefined): boolean {
  return end?.code === 0 || end?.servedMs === 0
}

/** Makes a worker listen on the port of this address. The address of a unix socket needs no setting. */
function portOf(address: string): Record<string, string> {
  const port = /^http:.*:(\d+)$/.exec(address)?.[1]
  return port === undefined ? {} : { PORT: port }
}
