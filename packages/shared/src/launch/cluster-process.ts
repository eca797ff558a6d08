import cluster, { type Worker } from 'node:cluster'
import { StartError } from '../process/config.ts'
import { DRAIN, FAREWELL, type Served, type WorkerMessage } from './cluster-worker.ts'

/** How a worker ended. */
export interface WorkerEnd {
  /** Exit code; null if a signal ended the worker, or if it did not start. */
  code: number | null
  signal: string | null
  /** The reason as a sentence, if the worker sent one or did not start. */
  reason: string | undefined
  /** Milliseconds from the time it listened to its end; 0 if it never listened. */
  servedMs: number
  /** Null if the worker ended before it could report. */
  served: Served | null
}

/** One worker process, seen from the primary, from its start to its end. */
export class WorkerProcess {
  readonly #worker: Worker
  readonly #listening = Promise.withResolvers<string>()
  readonly #ended = Promise.withResolvers<WorkerEnd>()
  #listeningSince: number | undefined
  #refused: string | undefined
  #served: Served | null = null

  /** @param env added to this process's environment */
  constructor(env: Readonly<Record<string, string>>) {
    this.#worker = cluster.fork(env)
    // A replacement may fail to listen while nothing awaits this promise. The worker's end reports the failure.
    this.#listening.promise.catch(() => {})
    this.#worker.on('message', (message: WorkerMessage) => this.#told(message))
    this.#worker.on('exit', (code: number | null, signal: string | null) => this.#over(code, signal))
    this.#worker.on('error', (error) => {
      // A process that did not start has no exit event. Other errors concern messages to a worker that has just ended.
      if (this.#worker.process.pid === undefined) this.#over(null, null, error.message)
    })
  }

  /** How log lines name it: the number of its start, counted from 1, and its process id. */
  get name(): { worker: number; pid: number | undefined } {
    return { worker: this.#worker.id, pid: this.#worker.process.pid }
  }

  /** Resolves with the address; rejects with a `StartError` if the worker ended first. */
  get listening(): Promise<string> {
    return this.#listening.promise
  }

  get ended(): Promise<WorkerEnd> {
    return this.#ended.promise
  }

  /** Makes the worker fail readiness, finish its responses, and end. A worker that is still starting would miss the message. */
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
    // If the worker has just ended, its exit event reports it.
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
