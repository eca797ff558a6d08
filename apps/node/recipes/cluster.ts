import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
const stop = new AbortController()
let hasServed = false

// `node src/cluster.ts` uses all cores: this process becomes the primary, which passes connections to its workers in turn.
for (const signal of SIGNALS) process.on(signal, cluster.isPrimary ? stopWorkers : stopOnce)
if (!cluster.isPrimary) await import('../src/server.ts')
else for (let core = 0; core < availableParallelism(); core++) startWorker()

/** @param pauseMs how long to wait before it is replaced: longer after each crash, unless it had worked for a minute */
function startWorker(pauseMs = 100) {
  const worker = cluster.fork()
  let since: number | undefined
  worker.once('listening', () => {
    hasServed = true
    since = performance.now()
  })
  worker.once('exit', async (code) => {
    if (stop.signal.aborted) {
      if (since !== undefined) process.exitCode ||= code ?? 1 // none: a signal ended it
    } else if (hasServed) {
      if (since !== undefined && performance.now() - since > 60_000) pauseMs = 100
      await sleep(pauseMs, undefined, stop).then(
        () => startWorker(Math.min(2 * pauseMs, 10_000)),
        () => {}, // it stops
      )
    } else process.exit(1) // it could not start, and has said why
  })
}

function stopWorkers() {
  const insists = stop.signal.aborted
  stop.abort()
  for (const worker of Object.values(cluster.workers ?? {}))
    worker?.process.kill(insists ? 'SIGKILL' : 'SIGTERM')
  if (insists) process.exit(1)
}

/** systemd, a terminal and some containers signal every process, and the primary does so, too: for a worker, that is one stop. */
function stopOnce(signal: NodeJS.Signals) {
  if (!stop.signal.aborted && process.listenerCount(signal) === 1) process.exit() // it does not serve yet
  stop.abort()
  process.nextTick(() => {
    for (const each of SIGNALS)
      for (const listener of process.listeners(each))
        if (listener !== stopOnce) process.removeListener(each, listener)
  })
}
