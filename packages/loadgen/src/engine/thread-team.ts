import type { Target } from '../http/target.ts'
import { sumProgress } from '../report/progress.ts'
import { sharedNow } from './clock.ts'
import type { Measurement } from './measurement.ts'
import type { LoadOptions } from './options.ts'
import { shareOut } from './shares.ts'
import { WorkerThread } from './worker-thread.ts'

/**
 * Threads that offer a load together. Each has its own event loop, heap and connections; the calling thread sleeps meanwhile. They
 * stay alive until `close`, so their compiled code stays warm.
 */
export class ThreadTeam {
  readonly #threads: WorkerThread[] = []

  /**
   * Runs one load on as many threads as it asks for: all open their connections, then all start.
   * @param target resolved
   * @throws {LoadError} if one of them cannot
   */
  async run({ signal, onProgress, ...plan }: LoadOptions, target: Target): Promise<Measurement[]> {
    const shares = shareOut(plan)
    while (this.#threads.length < shares.length) this.#threads.push(new WorkerThread())
    const threads = this.#threads.slice(0, shares.length)
    const tell = onProgress && (() => onProgress(sumProgress(threads.map(({ progress }) => progress))))
    shares.forEach((share, n) => {
      threads[n]?.open(share, target, tell)
    })
    const abort = () => {
      for (const thread of threads) thread.abort()
    }
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    return runTogether(threads).finally(() => signal?.removeEventListener('abort', abort))
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()))
  }
}

async function runTogether(threads: readonly WorkerThread[]): Promise<Measurement[]> {
  try {
    await Promise.all(threads.map(({ opened }) => opened))
    const at = sharedNow()
    for (const thread of threads) thread.start(at)
    return await Promise.all(threads.map(({ measured }) => measured))
  } catch (error) {
    // One thread failed, so the load is not the one asked for. The other threads end it, and can take the next.
    for (const thread of threads) thread.abort()
    await Promise.allSettled(threads.map(({ measured }) => measured))
    throw error
  }
}
