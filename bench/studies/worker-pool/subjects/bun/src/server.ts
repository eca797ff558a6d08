import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '@startgrid/shared/process/config.ts'
import { QUIET_MS } from '@startgrid/shared/process/drain.ts'
import { formatAddress, listenFailure, removeStaleSocket } from '@startgrid/shared/process/listen.ts'
import { startFound } from '@startgrid/shared/process/role.ts'

await startFound<typeof import('./pool.ts')>(
  'bun',
  import.meta.dir,
  process.argv[2],
  ({ createApp }, { config, ...options }) => {
    const app = createApp({ config, ...options })
    let server: Bun.Server<undefined> | undefined
    return {
      async listen() {
        const { host, port, socket } = config
        if (socket !== undefined) await removeStaleSocket(socket)
        try {
          server = Bun.serve({
            ...app,
            ...(socket === undefined ? { hostname: host, port } : { unix: socket }),
            development: false,
            maxRequestBodySize: Number.MAX_SAFE_INTEGER, // the guard in base.ts refuses, with a problem as body
            idleTimeout: 65, // outlives NGINX's keep-alive (60 s), or NGINX reuses a connection that was just closed: 502
          } as Bun.Serve.Options<undefined>)
        } catch (error) {
          throw new StartError(listenFailure(error, config), { cause: error })
        }
        return socket === undefined ? formatAddress(host, server.port ?? port) : `unix:${socket}`
      },
      async close() {
        await sleep(QUIET_MS) // stop() resets idle connections at once, and a request may be on its way
        await server?.stop()
      },
    }
  },
)
