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

  return {
    async listen() {
      const app = create()
      const address = () => ({ address: server?.hostname ?? '', port: server?.port ?? 0 })
      return listen({ address }, config, async ({ host: hostname, port, path: unix }) => {
        const place = unix === undefined ? { hostname, port } : { unix }
        server = Bun.serve({ ...app, ...place } as Bun.Serve.Options<undefined>)
      })
    },
    async close() {
      await sleep(QUIET_MS) // stop() resets idle connections at once, and a request may be on its way
      const stopped = server?.stop()
      await Promise.race([stopped, sleep(LINGER_MS)])
      while (server?.pendingRequests) await sleep(QUIET_MS)
      await server?.stop(true) // closes what WebSockets are left, with 1001
    },
  }
}
