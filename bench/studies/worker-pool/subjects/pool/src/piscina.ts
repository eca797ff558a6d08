import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { PoolConfig } from './config.ts'
import { TaskTimeout } from './refusal.ts'
import type { Runner } from './runner.ts'

/** Worker threads. Piscina itself replaces those that end or are aborted. */
export function createPiscinaRunner(tasks: URL, { size, timeoutMs }: PoolConfig): Runner {
  const pool = new Piscina({
    filename: fileURLToPath(tasks),
    minThreads: size,
    maxThreads: size,
    stricterFIFO: true, // else a task that must wait a little longer goes to the end of the queue
    // Only this callback shows when a task leaves the queue for a worker.
    loadBalancer: (task, workers) => {
      const idle = workers.find(({ currentUsage }) => currentUsage === 0)
      const deadline: unknown = Reflect.get(task, Piscina.queueOptionsSymbol)
      if (idle && deadline instanceof Deadline) deadline.start(timeoutMs)
      return idle ?? null
    },
  })
  return {
    waiting: () => pool.queueSize,
    async run(name, input) {
      const deadline = new Deadline()
      const task = { ...Object(input), [Piscina.queueOptionsSymbol]: deadline }
      try {
        return await pool.run(task, { name, signal: deadline.signal })
      } catch (error) {
        throw deadline.signal.aborted ? new TaskTimeout(name, timeoutMs) : error
      } finally {
        deadline.clear()
      }
    },
    close: () => pool.close(),
  }
}

/** Aborts, and thereby ends the worker, some time after it was started: not while the task waits. */
class Deadline extends AbortController {
  #timer: NodeJS.Timeout | undefined

  start(ms: number): void {
    this.#timer ??= setTimeout(() => this.abort(), ms)
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
