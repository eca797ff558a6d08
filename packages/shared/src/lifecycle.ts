import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { type Config, readConfig, StartError } from './config.ts'
import { createHealth, type Health } from './health.ts'
import { createLogger, type Logger } from './log.ts'
import { loadRole } from './role.ts'

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
    const { name: found, role } = await loadRole<Role>(directory, name)
    const log = createLogger(`${framework}/${found}`, config)
    const health = createHealth()
    const service = await createService(role, { config, health, log })
    const address = await service.listen()
    closeOnSignal(service, config, health, log)
    // Whatever the level: it is how a person or a launcher that set PORT=0 learns the address.
    log.child({}, { level: 'info' }).info({ pid: process.pid, address }, 'listening')
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

/** Readiness fails, the load balancer gets its time to notice, then the service drains within the deadline. */
function closeOnSignal(service: Service, config: Config, health: Health, log: Logger): void {
  const delay = config.shutdownDelayMs + config.shutdownTimeoutMs
  closeWithGrace({ delay, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    health.draining = true
    // Without a delay not even a tick: a connection that is accepted now would only be closed.
    if (config.shutdownDelayMs > 0) await sleep(config.shutdownDelayMs)
    await service.close()
    log.info('stopped')
  })
}
