import { setTimeout as sleep } from 'node:timers/promises'
import { type Config, StartError } from '#shared/process/config.ts'
import { QUIET_MS, UPGRADED_MS } from '#shared/process/drain.ts'
import type { Service } from '#shared/process/lifecycle.ts'
import { formatAddress, listenFailure } from '#shared/process/listen.ts'
import type { createApp } from './app.ts'

/** An app, perhaps with handlers of WebSockets. */
export type App = ReturnType<typeof createApp> & { websocket?: Bun.WebSocketHandler<unknown> }

/** How `Bun.serve` listens and closes. */
export function createService(app: App, config: Config): Service {
  const { host: hostname, port, socket } = config
  let server: Bun.Server<undefined> | undefined
  const serve = (place: object) => {
    server = Bun.serve({ ...app, ...place } as Bun.Serve.Options<undefined>)
    return server
  }

  return {
    async listen() {
      if (socket !== undefined) {
        const { listenOnSocket } = await import('#shared/process/socket.ts')
        return listenOnSocket(socket, ({ path }) => serve({ unix: path }))
      }
      try {
        return formatAddress(hostname, serve({ hostname, port }).port ?? port)
      } catch (error) {
        throw new StartError(listenFailure(error, config), { cause: error })
      }
    },
    async close() {
      await sleep(QUIET_MS) // stop() resets idle connections at once, and a request may be on its way
      const stopped = server?.stop()
      await Promise.race([stopped, sleep(UPGRADED_MS)])
      while (server?.pendingRequests) await sleep(QUIET_MS)
      await server?.stop(true) // closes what WebSockets are left, with 1001
    },
  }
}
