/** One of several threads that offer a load together, started by worker-thread.ts. */

import { parentPort } from 'node:worker_threads'
import type { Target } from '../http/target.ts'
import type { Progress } from '../report/progress.ts'
import { Load } from './load.ts'
import type { Share } from './shares.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

let aborting = new AbortController()
let starting = Promise.withResolvers<number>()

async function run({ plan, firstMs }: Share, target: Target): Promise<void> {
  aborting = new AbortController()
  starting = Promise.withResolvers<number>()
  const gate = () => {
    tell({ opened: true })
    return starting.promise
  }
  const onProgress = (progress: Progress) => tell({ progress })
  try {
    const load = new Load({ ...plan, signal: aborting.signal, onProgress }, target, { firstMs, gate })
    tell({ measurement: await load.run() })
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) })
  }
}

function tell(message: FromThread): void {
  parentPort?.postMessage(message)
}

parentPort?.on('message', (message: ToThread) => {
  if ('open' in message) void run(message.open, message.target)
  else if ('start' in message) starting.resolve(message.start)
  else aborting.abort()
})
