import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:net'
import type { Config } from '../process/config.ts'
import * as single from '../process/listen.ts'
import type { LaunchConfig } from './config.ts'

/** `listen` of `process/listen.ts`, also on a unix socket, and on a port that several processes share. */
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
