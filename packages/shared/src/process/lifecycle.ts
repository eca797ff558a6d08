import cluster from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace, { type CloseWithGraceAsyncCallback } from 'close-with-grace'
import { createHealth, type Health } from '../http/health.ts'
import { runPrimary } from './cluster.ts'
import { closeWhenTold, tellPrimary } from './cluster-worker.ts'
import { type Config, readConfig, StartError } from './config.ts'
import { announce, createLogger, type Logger } from './log.ts'

/** What `createApp` is given. */
export interface AppOptions {
  config: Config
  health: Health
  log: Logger
}

/** How a server listens and stops. */
export interface Service {
  /** Resolves with the address in use. */
  listen(): Promise<string>
  /** Refuses new connections and resolves when every request in flight is answered. */
  close(): Promise<void>
}

/**
 * Runs an app from its environment until it is told to stop, and ends the process: 0 after a complete drain; 1 when it
 * could not start, when the deadline passed, on a second signal, or after an uncaught exception.
 * @param name the app's in the log
 * @param load imports the app, once the settings are found to be right
 */
export async function start<App>(
  name: string,
  load: () => Promise<App>,
  createService: (app: App, options: AppOptions) => Service | Promise<Service>,
): Promise<void> {
  try {
    const config = readConfig(process.env)
    const log = createLogger(name, config)
    // It serves nothing itself, so it needs no app.
    if (config.cluster !== 'single' && cluster.isPrimary) return await runPrimary(config, log)
    const health = createHealth()
    const service = await createService(await find(load), { config, health, log })
    const address = await service.listen()
    closeOnSignal(service, config, health, log)
    if (cluster.isWorker) void tellPrimary({ listening: address })
    // It is how a person or a launcher that set PORT=0 learns the address.
    else announce(log, { pid: process.pid, address }, 'listening')
  } catch (error) {
    await refuse(error)
  }
}

/** Runtimes name what they do not find in the first line: a package, or a file that the build makes. */
async function find<App>(load: () => Promise<App>): Promise<App> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    const [reason = ''] = error.message.split('\n')
    throw new StartError(`${reason.replace(/\.$/, '')}: install and build first.`, { cause: error })
  }
}

/** Says why there is no start in one sentence; what is no `StartError` is a defect, and thrown again. */
export async function refuse(error: unknown): Promise<void> {
  if (!(error instanceof StartError)) throw error
  process.exitCode = 1
  if (cluster.isWorker) {
    // Who says it once for all workers.
    await tellPrimary({ refused: error.message })
    process.exit()
  }
  process.stderr.write(`${error.message}\n`)
}

/** Readiness fails, the load balancer gets its time to notice, then the service drains within the deadline. */
function closeOnSignal(service: Service, config: Config, health: Health, log: Logger): void {
  const options = { delay: config.shutdownDelayMs + config.shutdownTimeoutMs, logger: log }
  const close: CloseWithGraceAsyncCallback = async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    health.drain()
    // Without a delay not even a tick: a connection that is accepted now would only be closed.
    if (config.shutdownDelayMs > 0) await sleep(config.shutdownDelayMs)
    await service.close()
    log.info('stopped')
  }
  if (cluster.isWorker) closeWhenTold(options, health, close)
  else closeWithGrace(options, close)
}
