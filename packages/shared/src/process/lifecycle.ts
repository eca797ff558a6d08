import cluster from 'node:cluster'
import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace, { type CloseWithGraceAsyncCallback } from 'close-with-grace'
import { Health } from '../http/health.ts'
import { runPrimary } from './cluster.ts'
import { closeWhenTold, tellPrimary } from './cluster-worker.ts'
import { type Config, readConfig, StartError } from './config.ts'
import { announce, createLogger, flush, type Logger } from './log.ts'

/** The options of `createApp`. */
export interface AppOptions {
  config: Config
  health: Health
  log: Logger
}

/** Code that is loaded before the app, such as telemetry, can subscribe to its `AppOptions`: it adds checks, and closes at the end. */
const starts = channel('app:start')

/** How a server listens and stops. */
export interface Service {
  /** Resolves with the address in use. */
  listen(): Promise<string>
  /** Refuses new connections, and resolves when all responses in flight are complete. */
  close(): Promise<void>
}

/**
 * Runs an app with the settings of its environment until a stop signal, and ends the process. The exit code is 0 after a complete drain. It
 * is 1 if the app could not start, after the deadline, on a second signal, or after an uncaught exception.
 * @param name the app's name in the log
 * @param load imports the app; it is called when the settings are valid
 */
export async function start<App>(
  name: string,
  load: () => Promise<App>,
  createService: (app: App, options: AppOptions) => Service | Promise<Service>,
): Promise<void> {
  try {
    const config = readConfig(process.env)
    const log = createLogger(name, config)
    // The primary serves no requests, so it needs no app.
    if (config.cluster !== 'single' && cluster.isPrimary) return await runPrimary(config, log)
    const health = new Health(log)
    const options = { config, health, log }
    starts.publish(options)
    const service = await createService(await find(load), options)
    const address = await listenOrClose(service, health)
    closeOnSignal(service, config, health, log)
    if (cluster.isWorker) void tellPrimary({ listening: address })
    // With PORT=0, this line is how a person or a launcher learns the address.
    else void announce(log, { pid: process.pid, address }, 'listening')
  } catch (error) {
    await refuse(error)
  }
}

/** Closes what the app has opened if it cannot listen. Otherwise, an open database would keep the process alive. */
async function listenOrClose(service: Service, health: Health): Promise<string> {
  try {
    return await service.listen()
  } catch (error) {
    await Promise.allSettled([service.close(), health.close()])
    throw error
  }
}

/** Runtimes name a missing module in the first line of their error: a package, or a file of the build. */
async function find<App>(load: () => Promise<App>): Promise<App> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    const [reason = ''] = error.message.split('\n')
    throw new StartError(`${reason.replace(/\.$/, '')}: install and build first.`, { cause: error })
  }
}

/** Reports in one sentence why the app did not start. An error other than a `StartError` is a defect, and is thrown again. */
export async function refuse(error: unknown): Promise<void> {
  if (!(error instanceof StartError)) throw error
  process.exitCode = 1
  if (cluster.isWorker) {
    // The primary reports this once for all workers.
    await tellPrimary({ refused: error.message })
    process.exit()
  }
  process.stderr.write(`${error.message}\n`)
}

/**
 * At a stop signal: fails readiness, gives the load balancer time to notice, drains, and runs the callbacks of `onClose`, all within the
 * deadline.
 */
function closeOnSignal(service: Service, config: Config, health: Health, log: Logger): void {
  const options = { delay: config.shutdownDelayMs + config.shutdownTimeoutMs, logger: log }
  const close: CloseWithGraceAsyncCallback = async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    health.drain()
    // Without a delay, do not wait at all: a connection that is accepted now would only be closed.
    if (config.shutdownDelayMs > 0) await sleep(config.shutdownDelayMs)
    await service.close()
    await health.close()
    log.info('stopped')
    await flush(log)
  }
  if (cluster.isWorker) closeWhenTold(options, health, close)
  else closeWithGrace(options, close)
}
