/// <reference path="./qoper8-cp.d.ts" />
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { QOper8 } from 'qoper8-cp'
import type { PoolConfig } from './config.ts'
import { TaskTimeout } from './refusal.ts'
import type { Runner } from './runner.ts'

/** Its words for a reply that did not come in time, the only sign of it. */
const TIMED_OUT = 'Child Process handler timeout exceeded'

const WORKER = 'qoper8-worker.ts'

/** Child processes, with what qoper8-cp 5.3 leaves to its users. */
export function createQOper8Runner(tasks: URL, { size, timeoutMs }: PoolConfig): Runner {
  survivePipeErrors()
  const here = { module: WORKER, path: import.meta.dirname }
  const pool = withoutSignalHandlers(
    () =>
      new QOper8({
        poolSize: size,
        maxPoolSize: size,
        handlerTimeout: timeoutMs,
        handlersByMessageType: new Map([['task', here]]),
        onStartup: { ...here, arguments: { tasks: tasks.href } },
        workerInactivityLimit: Number.MAX_SAFE_INTEGER, // one that stops idle loses the message that comes just then
      }),
  )
  const workers = new Workers(pool)
  const inHand = new Set<Promise<unknown>>()
  let warming = 0
  // It starts a worker for a message that finds none idle: so many at once, of a type that workers know by themselves.
  while (warming < size) {
    warming++
    pool.message({ type: 'qoper8_getStats' }, () => warming--)
  }
  return {
    waiting: () => Math.max(0, pool.getQueueLength() - warming),
    run(name, input) {
      const { promise, resolve, reject } = Promise.withResolvers()
      pool.message({ type: 'task', name, input }, (reply, worker) => {
        workers.finished(worker)
        if (reply.error === TIMED_OUT) {
          workers.kill(worker)
          reject(new TaskTimeout(name, timeoutMs))
        } else if (reply.error !== undefined) reject(new Error(`The task '${name}' is lost: ${reply.error}.`))
        else if (reply.failure !== undefined) reject(reply.failure)
        else resolve(reply.result)
      })
      inHand.add(promise)
      return promise.finally(() => inHand.delete(promise))
    },
    async close() {
      await Promise.allSettled(inHand) // `stop` would forget what waits
      await pool.stop()
      workers.leave()
    },
  }
}

/** Which workers have a task, and the means to end one that is stuck: qoper8-cp only asks it to, by a message it never reads. */
class Workers {
  readonly #pids = new Map<number | undefined, number>()
  readonly #busy = new Set<number | undefined>()
  readonly leave: () => void

  constructor(pool: QOper8) {
    pool.on('replyReceived', ({ reply, workerId }) => {
      if (reply.pid !== undefined) this.#pids.set(workerId, reply.pid)
    })
    pool.on('sentToWorker', ({ workerId }) => this.#busy.add(workerId))
    // Idle ones see that we are gone, stuck ones would run on for ever.
    const killBusy = () => {
      for (const worker of this.#busy) this.kill(worker)
    }
    process.once('exit', killBusy)
    this.leave = () => process.off('exit', killBusy)
  }

  finished(worker: number | undefined): void {
    this.#busy.delete(worker)
  }

  kill(worker: number | undefined): void {
    const pid = this.#pids.get(worker)
    this.#pids.delete(worker)
    if (pid === undefined) return
    try {
      process.kill(pid, 'SIGKILL')
    } catch {} // it has just ended
  }
}

/** qoper8-cp stops by itself at a signal, and forgets what waits; when to stop is the lifecycle's decision. */
function withoutSignalHandlers<Value>(create: () => Value): Value {
  const signals = ['SIGINT', 'SIGTERM'] as const
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)))
  const value = create()
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) {
      if (!before.has(listener)) process.off(signal, listener)
    }
  }
  return value
}

let survives = false

/**
 * A message to a worker that was killed a moment ago fails with EPIPE, an `error` event that qoper8-cp does not listen to: it would
 * end the server. The worker's `exit` event, which it does listen to, follows. Bun has neither this channel nor the event.
 */
function survivePipeErrors(): void {
  if (survives) return
  survives = true
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess }
    child.once('spawn', () => {
      if (child.spawnargs.some((word) => word.endsWith('QOper8Worker.mjs'))) child.on('error', () => {})
    })
  })
}
