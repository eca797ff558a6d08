import { channel } from 'node:diagnostics_channel'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace, { type CloseWithGraceAsyncCallback, type Options } from 'close-with-grace'
import { Health } from '../http/health.ts'
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

/** Milliseconds for which a connection may still send a request after the server stopped listening. */
export const QUIET_MS = 100

/**
 * Milliseconds that WebSockets have to close after `health.signal` has told them to, and new connections to send their first request. Then
 * they are cut, because they have no end.
 */
export const LINGER_MS = 2_000

/** How a server listens and stops. */
export interface Service {
  /** Resolves with the address in use. */
  listen(): Promise<string>
  /** Refuses new connections, and resolves when all responses in flight are complete. */
  close(): Promise<void>
}

/**
 * The first half of a server: its settings, log and health, and its routes. If it cannot start, it ends the process with one sentence and
 * exit code 1.
 * @param name the app's name in the log
 * @param load imports the routes; it is called when the settings are valid
 */
export async function begin<Routes>(name: string, load: () => Promise<Routes>) {
  try {
    return await prepare(name, readConfig(process.env), load)
  } catch (error) {
    return refuse(error)
  }
}

/** What `begin` does with the settings. @throws {StartError} if the routes cannot be loaded */
export async function prepare<Routes, Settings extends Config>(
  name: string,
  config: Settings,
  load: () => Promise<Routes>,
): Promise<AppOptions & { config: Settings; routes: Routes }> {
  const log = createLogger(name, config)
  const options = { config, health: new Health(log), log }
  starts.publish(options)
  return { ...options, routes: await find(load) }
}

/**
 * The second half: listens, serves until a stop signal, and ends the process. The signal fails readiness, gives the load balancer time to
 * notice, drains, and runs the callbacks of `onClose`, all within the deadline. The exit code is 0 after a complete drain. It is 1 if the
 * app cannot listen, after the deadline, on a second signal, or after an uncaught exception.
 */
export async function run(options: AppOptions, service: Service): Promise<void> {
  try {
    const address = await listenOrClose(service, options.health)
    closeWithGrace(...onSignal(options, service))
    // With PORT=0, this line is how a person or a launcher learns the address.
    await announce(options.log, { pid: process.pid, address }, 'listening')
  } catch (error) {
    return refuse(error)
  }
}

/** The options of `server.listen`. */
export interface Place {
  host?: string
  port?: number
  reusePort?: boolean
  path?: string
}

/**
 * Listens at the address of the configuration.
 * @param server a `Server` of Node, unless there is `open`
 * @param open the framework's own method to listen, if it has one
 * @returns the address in use, such as `http://127.0.0.1:3000`
 * @throws {StartError} if it cannot listen
 */
export async function listen(
  server: { address(): unknown },
  config: Config,
  open: (place: Place) => Promise<unknown> = (place) => once((server as Server).listen(place), 'listening'),
): Promise<string> {
  const { host, port } = config
  try {
    // Look up the name here, because a framework may start one server per address of `localhost`.
    await open({ host: (await lookup(host)).address, port })
  } catch (error) {
    throw new StartError(listenFailure(error, config), { cause: error })
  }
  const { address, port: used } = server.address() as AddressInfo
  return formatAddress(address, used)
}

/** Closes what the app has opened if it cannot listen, such as a database. */
export async function listenOrClose(service: Service, health: Health): Promise<string> {
  try {
    return await service.listen()
  } catch (error) {
    await Promise.allSettled([service.close(), health.close()])
    throw error
  }
}

/** The arguments of `closeWithGrace`. */
export function onSignal(
  { config, health, log }: AppOptions,
  service: Service,
): [Options, CloseWithGraceAsyncCallback] {
  const options = { delay: config.shutdownDelayMs + config.shutdownTimeoutMs, logger: log }
  return [
    options,
    async ({ err, signal }) => {
      if (err) log.fatal({ err }, 'uncaught')
      else log.info({ signal }, 'draining')
      health.drain()
      // Without a delay, do not wait at all: a connection that is accepted now would only be closed.
      if (config.shutdownDelayMs > 0) await sleep(config.shutdownDelayMs)
      await service.close()
      await health.close()
      log.info('stopped')
      await flush(log)
    },
  ]
}

/** Runtimes name a missing module in the first line of their error: a package, or a file of the build. */
async function find<Routes>(load: () => Promise<Routes>): Promise<Routes> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    const [reason = ''] = error.message.split('\n')
    throw new StartError(`${reason.replace(/\.$/, '')}: install and build first.`, { cause: error })
  }
}

/**
 * Ends the process with one sentence that says why the app did not start.
 * @throws the error itself if it is not a `StartError`: it is a defect
 */
export function refuse(error: unknown): never {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

/** `http://host:port`, with brackets around IPv6. */
export function formatAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** One sentence: what happened, and what to do. */
export function listenFailure(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const place = `Port ${port} on ${host}`
  if (code === 'EADDRINUSE')
    return `${place} is in use by another process: stop that, or set PORT to another one (0 picks a free one).`
  if (code === 'EACCES') return `${place} may not be used by this user: choose a port from 1024 up.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is '${host}', but this machine does not have that address.`
  return `${place} cannot be used: ${error instanceof Error ? error.message : error}.`
}
