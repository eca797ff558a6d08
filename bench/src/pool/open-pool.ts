/// <reference path="../../studies/worker-pool/subjects/pool/src/qoper8-cp.d.ts" />
import { join } from 'node:path'
import type { MessagePool } from './pace.ts'
import type { PoolSettings } from './settings.ts'

const WORKER = 'worker.ts'

/**
 * The library as it comes, without what an app adds to it. Workers start with the first messages, or before.
 * Nothing closes it. The process that opened it ends.
 */
export function openPool(settings: PoolSettings): Promise<MessagePool> {
  return settings.library === 'piscina' ? openPiscina(settings) : openQOper8(settings)
}

async function openPiscina({ size, tasksPerWorker }: PoolSettings): Promise<MessagePool> {
  const { Piscina } = await import('piscina')
  const pool = new Piscina<unknown, { workerId: number }>({
    filename: join(import.meta.dirname, WORKER),
    minThreads: size,
    maxThreads: size,
    concurrentTasksPerWorker: tasksPerWorker,
  })
  return {
    waiting: () => pool.queueSize,
    send: async (message) => (await pool.run(message)).workerId,
  }
}

async function openQOper8({ size }: PoolSettings): Promise<MessagePool> {
  const { QOper8 } = await import('qoper8-cp')
  const here = { module: WORKER, path: import.meta.dirname }
  const pool = new QOper8({
    poolSize: size,
    maxPoolSize: size,
    handlersByMessageType: new Map([['benchmark', here]]),
    onStartup: here,
  })
  return {
    waiting: () => pool.getQueueLength(),
    send(message) {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      pool.message({ type: 'benchmark', ...message }, ({ error }, worker) => {
        if (error === undefined && worker !== undefined) resolve(worker)
        else reject(new Error(error))
      })
      return promise
    },
  }
}
