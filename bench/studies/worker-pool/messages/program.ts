/// <reference path="../qoper8-cp.d.ts" />
import { once } from 'node:events'
import { QOper8 } from 'qoper8-cp'
import type { PoolSettings } from './measure.ts'

/**
 * `node program.ts SETTINGS` or `bun program.ts SETTINGS`: measures qoper8-cp as it comes, in this process. It says `begun` after the warm-up, waits for
 * SIGUSR2 (workers read its input, too), and says `rate N` at last. It stays until its input ends, so that the accounts of all its processes can be read.
 */

/** So that all workers run and the code is compiled; a launch is at its final cost after a second. */
const WARMUP = 20_000

/** Messages in flight for each worker: enough that none waits, few enough that the queue stays short. */
const IN_FLIGHT_PER_WORKER = 32

process.stdin.resume().once('end', () => process.exit())
const { size, messages } = JSON.parse(process.argv[2] ?? '') as PoolSettings
const here = { module: 'worker.ts', path: import.meta.dirname }
const pool = new QOper8({
  poolSize: size,
  maxPoolSize: size,
  handlersByMessageType: new Map([['benchmark', here]]),
  onStartup: here,
})

await sendAll(WARMUP)
const accounted = once(process, 'SIGUSR2')
process.stdout.write('begun\n')
await accounted
const startedAt = performance.now()
await sendAll(messages)
process.stdout.write(`rate ${messages / ((performance.now() - startedAt) / 1000)}\n`)

/** As soon as one message gets its reply the next one follows. */
async function sendAll(count: number): Promise<void> {
  let sent = 0
  const refill = async () => {
    while (sent < count) await send(++sent)
  }
  await Promise.all(Array.from({ length: size * IN_FLIGHT_PER_WORKER }, refill))
}

/** As small as the messages of qoper8-cp's own benchmark. */
function send(messageNo: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  pool.message({ type: 'benchmark', messageNo, time: Date.now() }, ({ error }) => {
    if (error === undefined) resolve()
    else reject(new Error(error))
  })
  return promise
}
