import { once } from 'node:events'
import { createServer } from 'node:net'
import closeWithGrace from 'close-with-grace'
import { listen } from '../process/lifecycle.ts'
import { announce, type Logger } from '../process/log.ts'
import { GROUP_SIGNALS } from './cluster-worker.ts'
import { Workers } from './cluster-workers.ts'
import type { LaunchConfig } from './config.ts'

/**
 * Runs the primary of a cluster. It starts workers, replaces those that end, and drains them at a stop signal. It serves no requests.
 * With `cluster`, `node:cluster` accepts connections in the primary and hands them to the workers in turn. With `reuse-port`, each worker
 * listens by itself, and the kernel distributes the connections.
 * @throws {StartError} if the first workers cannot listen
 */
export async function runPrimary(config: LaunchConfig, log: Logger): Promise<never> {
  if (config.cluster === 'reuse-port') await claimPort(config)
  const workers = new Workers(config, log)
  // This also covers a second signal and the deadline. If the primary itself is killed, its workers end when their channel to it closes.
  process.once('exit', () => workers.kill())
  const address = await startWorkers(workers)
  drainOnSignal(workers, config, log)
  const { cluster } = config
  await announce(log, { pid: process.pid, address, cluster, workers: workers.pids() }, 'listening')
  return new Promise(() => {}) // a signal ends the process
}

/** Until all workers listen, a signal ends this process as usual. The workers are killed first, or each would log an error. */
async function startWorkers(workers: Workers): Promise<string> {
  const abandon = (signal: NodeJS.Signals) => {
    workers.kill()
    process.kill(process.pid, signal)
  }
  for (const signal of GROUP_SIGNALS) process.once(signal, abandon)
  const address = await workers.start()
  for (const signal of GROUP_SIGNALS) process.off(signal, abandon)
  return address
}

/** With SO_REUSEPORT, two clusters of one user could share a port unnoticed. So listen once without it. */
async function claimPort(config: LaunchConfig): Promise<void> {
  const server = createServer()
  await listen(server, config)
  server.close()
  await once(server, 'close')
}

/** The workers fail readiness and wait for the load balancer themselves. The primary keeps the deadline for all of them. */
function drainOnSignal(workers: Workers, config: LaunchConfig, log: Logger): void {
  const delay = config.shutdownDelayMs + config.shutdownTimeoutMs
  closeWithGrace({ delay, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    await announce(log, { spread: await workers.drain() }, 'stopped')
  })
}
