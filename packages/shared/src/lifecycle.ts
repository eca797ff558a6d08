import cluster from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { announce, runPrimary } from './cluster.ts'
import { countServed, drainWhenTold, GROUP_SIGNALS, takeLeave, tellPrimary } from './cluster-worker.ts'
import { type Config, readConfig, StartError } from './config.ts'
import { createHealth, type Health } from './health.ts'
import { createLogger, type Logger } from './log.ts'
import { findRole, loadRole } from './role.ts'

/** What `createApp` of every app is given. `Routes` is how the framework adds routes: tests add failing ones with it. */
export interface AppOptions<Routes = never> {
  config: Config
  health: Health
  log: Logger
  routes?: Routes
}

/** A framework's way to listen and to stop. */
export interface Service {
  /** Resolves with the address in use. */
  listen(): Promise<string>
  /** Refuses new connections and resolves when every request in flight is answered. */
  close(): Promise<void>
}

/**
 * Runs one app from its environment until it is told to stop, and ends the process: 0 after a complete drain; 1 when it
 * could not start, when the deadline passed, on a second signal, or after an uncaught exception.
 * @param directory where the role files are; its package directory names the app in the log
 * @param name the role; may be absent where there is only one
 */
export async function start<Role>(
  framework: string,
  directory: string,
  name: string | undefined,
  createService: (role: Role, options: AppOptions) => Service | Promise<Service>,
): Promise<void> {
  try {
    const config = readConfig(process.env)
    const log = createLogger(`${framework}/${findRole(directory, name)}`, config)
    if (config.cluster !== 'single' && cluster.isPrimary) return await runPrimary(config, log)
    const { role } = await loadRole<Role>(directory, name)
    const health = createHealth()
    const service = await createService(role, { config, health, log })
    const address = await service.listen()
    closeOnSignal(service, config, health, log)
    if (cluster.isWorker) void tellPrimary({ listening: address })
    // It is how a person or a launcher that set PORT=0 learns the address.
    else announce(log, { pid: process.pid, address }, 'listening')
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    await refuse(error.message)
  }
}

async function refuse(sentence: string): Promise<void> {
  process.exitCode = 1
  if (cluster.isWorker) {
    // Who says it once for all workers.
    await tellPrimary({ refused: sentence })
    process.exit()
  }
  process.stderr.write(`${sentence}\n`)
}

/** Readiness fails, the load balancer gets its time to notice, then the service drains within the deadline. */
function closeOnSignal(service: Service, config: Config, health: Health, log: Logger): void {
  const delay = config.shutdownDelayMs + config.shutdownTimeoutMs
  const skip = cluster.isWorker ? [...GROUP_SIGNALS] : []
  const served = cluster.isWorker ? countServed() : undefined
  const { close } = closeWithGrace({ delay, logger: log, skip }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    health.draining = true
    // Without a delay not even a tick: a connection that is accepted now would only be closed.
    if (config.shutdownDelayMs > 0) await sleep(config.shutdownDelayMs)
    await service.close()
    log.info('stopped')
    if (served) await takeLeave(served)
  })
  if (cluster.isWorker) drainWhenTold(health, close)
}
