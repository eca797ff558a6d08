import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from '#shared/launch/lifecycle.ts'
import type { Config } from '#shared/process/config.ts'
import { LINGER_MS, QUIET_MS, type Service } from '#shared/process/lifecycle.ts'
import type { createApp } from './app.ts'

/** An app, perhaps with handlers of WebSockets. */
export type App = ReturnType<typeof createApp> & { websocket?: Bun.WebSocketHandler<unknown> }

/**
 * How `Bun.serve` listens and closes.
 * @param create is called before it listens; the sentence of a `StartError` is all that a person sees
 */
export function createService(create: () => App, config: Config): Service {
  let server: Bun.Server<undefined> | undefined
  let app: App | undefined

  return {
    async listen() {
      app = create()
      const address = () => ({ address: server?.hostname ?? '', port: server?.port ?? 0 })
      return listen({ address }, config, async ({ host: hostname, port, path: unix }) => {
        const place = unix === undefined ? { hostname, port } : { unix }
        server = Bun.serve({ ...app, ...place } as Bun.Serve.Options<undefined>)
      })
    },
    async close() {
      if (app === undefined || server === undefined) return
      // stop() resets idle connections at once, and a request may be on its way. A connection with a request is not idle, so the requests of
      // this moment wait. Their responses say `connection: close` when no client can come back to a socket that is about to be closed.
      const held = Promise.withResolvers<void>()
      app.stop.held = held.promise
      await sleep(QUIET_MS)
      const stopped = server.stop()
      app.stop.isListening = false
      held.resolve()
      await Promise.race([stopped, sleep(LINGER_MS)])
      while (server.pendingRequests) await sleep(QUIET_MS)
      await server.stop(true) // closes what WebSockets are left, with 1001
    },
  }
}
