import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { type Config, StartError } from '../process/config.ts'
import * as single from '../process/lifecycle.ts'
import { createLogger } from '../process/log.ts'
import { Output } from '../process/output.ts'
import { type LaunchConfig, readLaunchConfig } from './config.ts'

/** Bytes, of Linux. Workers share one output; this costs 3.5 % (1.7–5.2 %) of the requests per second that node/hello handles with its log. */
const PIPE_BUF = 4096

/**
 * `begin` for the role that is named on the command line, logged as `framework/role`. The primary of a cluster never returns from it.
 * @param roles loads the routes of each role, so that a server imports only what it serves
 */
export async function begin<Routes>(
  framework: string,
  roles: Readonly<Record<string, () => Promise<Routes>>>,
): Promise<single.AppOptions & { config: LaunchConfig; routes: Routes }> {
  try {
    const role = requireRole(Object.keys(roles), process.argv[2])
    const name = `${framework}/${role}`
    const config = readLaunchConfig(process.env)
    if (config.cluster !== 'single' && cluster.isPrimary) {
      const { runPrimary } = await import('./cluster.ts')
      await runPrimary(config, createLogger(name, config))
    }
    if (cluster.isWorker) Output.longestWrite = PIPE_BUF
    const options = await single.prepare(name, config, roles[role] as () => Promise<Routes>)
    if (cluster.worker) options.log.setBindings({ worker: cluster.worker.id })
    return options
  } catch (error) {
    return refuse(error)
  }
}

/** `run`, also as a worker of a cluster. */
export async function run(options: single.AppOptions, service: single.Service): Promise<void> {
  if (!cluster.isWorker) return single.run(options, service)
  try {
    const { serveInCluster } = await import('./cluster-worker.ts')
    const address = await single.listenOrClose(service, options.health)
    serveInCluster(address, options.health, ...single.onSignal(options, service))
  } catch (error) {
    return refuse(error)
  }
}

/** `listen`, also on a unix socket, and on a port that several processes share. */
export async function listen(
  server: { address(): unknown },
  config: Config & Partial<LaunchConfig>,
  open: (place: single.Place) => Promise<unknown> = (place) =>
    once((server as Server).listen(place), 'listening'),
): Promise<string> {
  if (config.socket !== undefined) {
    const { listenOnSocket } = await import('./socket.ts')
    return listenOnSocket(config.socket, open)
  }
  if (config.cluster !== 'reuse-port' || !cluster.isWorker) return single.listen(server, config, open)
  return single.listen(server, config, (place) => open({ ...place, reusePort: true }))
}

/** The primary reports the reason once for all workers. */
async function refuse(error: unknown): Promise<never> {
  if (!cluster.isWorker || !(error instanceof StartError)) return single.refuse(error)
  const { tellPrimary } = await import('./cluster-worker.ts')
  await tellPrimary({ refused: error.message })
  process.exit(1)
}

/**
 * The role that a person named.
 * @throws {StartError} listing the roles
 */
export function requireRole<Role extends string>(roles: readonly Role[], name: string | undefined): Role {
  const found = roles.find((role) => role === name)
  if (found !== undefined) return found
  const names = roles.join(', ')
  if (name === undefined) throw new StartError(`Say which app to start: ${names}.`)
  throw new StartError(`There is no app '${name}' here, only ${names}.`)
}
