import cluster, { type Worker } from 'node:cluster'
import { DRAIN, FAREWELL, type Served, type WorkerMessage } from './cluster-worker.ts'
import { StartError } from './config.ts'

/** How a worker ended. */
export interface WorkerEnd {
  /** Exit code; null if a signal ended it, or if it could not even be started. */
  code: number | null
  signal: string | null
  /** In words, if it could say or never ran. */
  reason: string | undefined
  /** Milliseconds from when it listened to its end; 0 if it never did. */
  servedMs: number
  /** Null if it ended before it could say. */
  served: Served | null
}

/** One worker process as its primary sees it, from its start to its end. */
export class WorkerProcess {
  readonly #worker: Worker
  readonly #listening = Promise.withResolvers<string>()
  readonly #ended = Promise.withResolvers<WorkerEnd>()
  #listeningSince: number | undefined
  #refused: string | undefined
  #served: Served | null = null

  /** @param env beside this process's own */
  constructor(env: Readonly<Record<string, string>>) {
    this.#worker = cluster.fork(env)
    // A worker that is replaced may fail to listen while nobody waits for it: its end says so.
    this.#listening.promise.catch(() => {})
    this.#worker.on('message', (message: WorkerMessage) => this.#told(message))
    this.#worker.on('exit', (code: number | null, signal: string | null) => this.#over(code, signal))
    this.#worker.on('error', (error) => {
      // Without a process there is no exit either; other errors are of messages to one that just ended.
      if (this.#worker.process.pid === undefined) this.#over(null, null, error.message)
    })
  }

  /** The number of its start, counted from 1, and its process id: how log lines name it. */
  get name(): { worker: number; pid: number | undefined } {
    return { worker: this.#worker.id, pid: this.#worker.process.pid }
  }

  /** Resolves with the address; rejects with a `StartError` if it ended before. */
  get listening(): Promise<string> {
    return this.#listening.promise
  }

  get ended(): Promise<WorkerEnd> {
    return this.#ended.promise
  }

  /** Has it fail readiness, answer what is in flight, and end. One that is still starting would not hear it yet. */
  drain(): void {
    this.#listening.promise.then(
      () => this.#tell(DRAIN),
      () => {},
    )
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL')
  }

  #told(message: WorkerMessage): void {
    if ('listening' in message) {
      this.#listeningSince = performance.now()
      this.#listening.resolve(message.listening)
    } else if ('refused' in message) {
      this.#refused = message.refused
    } else {
      this.#served = message.served
      this.#tell(FAREWELL)
    }
  }

  #tell(message: string): void {
    // If it has just ended, that is the news.
    this.#worker.send(message, () => {})
  }

  #over(code: number | null, signal: string | null, failure?: string): void {
    const reason = this.#refused ?? failure
    const how = signal ?? (code === null ? failure : `exit code ${code}`)
    this.#listening.reject(
      new StartError(
        this.#refused ?? `A worker ended before it listened (${how}), so the cluster does not start.`,
      ),
    )
    const since = this.#listeningSince
    const servedMs = since === undefined ? 0 : Math.ceil(performance.now() - since)
    this.#ended.resolve({ code, signal, reason, servedMs, served: this.#served })
  }
}
