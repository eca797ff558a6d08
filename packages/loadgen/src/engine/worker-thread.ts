import { Worker } from 'node:worker_threads'
import type { Target } from '../http/target.ts'
import type { Progress } from '../report/progress.ts'
import { LoadError } from './load-error.ts'
import type { Measurement } from './measurement.ts'
import type { Share } from './shares.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

const NONE: Progress = { done: 0, warmingUp: false, requests: 0, errors: 0 }

/** A thread that offers its share of one load after another, seen from the calling thread. */
export class WorkerThread {
  /** Of the load that was opened last. */
  progress: Progress = NONE
  readonly #worker = new Worker(new URL('thread.ts', import.meta.url))
  #opened = Promise.withResolvers<void>()
  #measured = Promise.withResolvers<Measurement>()
  #onProgress: (() => void) | undefined

  constructor() {
    this.#worker.on('message', (message: FromThread) => this.#received(message))
    this.#worker.on('error', (error) =>
      this.#failed(`A thread of the generator has ended: ${String(error)}.`),
    )
  }

  /** Opens the connections. @param onProgress called whenever `progress` is new */
  open(share: Share, target: Target, onProgress: (() => void) | undefined): void {
    this.progress = NONE
    this.#onProgress = onProgress
    this.#opened = Promise.withResolvers()
    this.#measured = Promise.withResolvers()
    // If one promise rejects first, nobody may await the other. Without this, its rejection would be unhandled.
    this.#opened.promise.catch(() => {})
    this.#measured.promise.catch(() => {})
    this.#tell({ open: share, target })
  }

  /** Resolves when all connections were tried, or the load was aborted before. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** @param at milliseconds of `sharedNow` */
  start(at: number): void {
    this.#tell({ start: at })
  }

  /** Ends the load soon; what was measured is kept. */
  abort(): void {
    this.#tell({ abort: true })
  }

  get measured(): Promise<Measurement> {
    return this.#measured.promise
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #tell(message: ToThread): void {
    this.#worker.postMessage(message)
  }

  #received(message: FromThread): void {
    if ('error' in message) {
      this.#failed(message.error)
    } else if ('progress' in message) {
      this.progress = message.progress
      this.#onProgress?.()
    } else {
      this.#opened.resolve()
      if ('measurement' in message) this.#measured.resolve(message.measurement)
    }
  }

  #failed(why: string): void {
    this.#opened.reject(new LoadError(why))
    this.#measured.reject(new LoadError(why))
  }
}
