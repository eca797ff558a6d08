import { once } from 'node:events'
import { createServer } from 'node:net'
import closeWithGrace from 'close-with-grace'
import { GROUP_SIGNALS } from './cluster-worker.ts'
import { Workers } from './cluster-workers.ts'
import type { Config } from './config.ts'
import { listen } from './listen.ts'
import { announce, type Logger } from './log.ts'

/**
 * Runs the primary of a cluster: it starts workers, replaces those that end, and drains all when it is told to stop. It serves
 * nothing itself. As `cluster` it accepts connections and hands them to the workers in turn, which is what `node:cluster` does; as
 * `reuse-port` each worker listens by itself, and the kernel spreads the connections.
 * @throws {StartError} if not even the first workers listen
 */
export async function runPrimary(config: Config, log: Logger): Promise<void> {
  if (config.cluster === 'reuse-port') await claimPort(config)
  const workers = new Workers(config, log)
  // Also at a second signal or past the deadline. Whatever is killed itself, its workers end with their channel to it.
  process.once('exit', () => workers.kill())
  const address = await startWorkers(workers)
  drainOnSignal(workers, config, log)
  const { cluster } = config
  announce(log, { pid: process.pid, address, cluster, workers: workers.pids() }, 'listening')
}

/** Until all listen, a signal ends this process as it would without workers, but not without them: they would complain. */
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

/** With SO_REUSEPORT two clusters of one user would share a port, and neither would be told. So listen once without. */
async function claimPort(config: Config): Promise<void> {
  const server = createServer()
  await listen(server, config)
  server.close()
  await once(server, 'close')
}

/** Workers wait for the load balancer themselves, with their readiness failing; here is the deadline for all. */
function drainOnSignal(workers: Workers, config: Config, log: Logger): void {
  const delay = config.shutdownDelayMs + config.shutdownTimeoutMs
  closeWithGrace({ delay, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    announce(log, { spread: await workers.drain() }, 'stopped')
  })
}
