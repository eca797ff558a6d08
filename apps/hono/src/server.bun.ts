import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { closeOnSignal, idleTimeout } from '#shared/web-server.ts'
import { createApp } from './app.ts'
import { routes } from './role.ts'

declare const Bun: { serve(options: object): { stop(): Promise<void>; url: URL } }
type Server = { requestIP(request: Request): { address: string } | null }

const config = readConfig(Settings)
const log = createLog(config)
const options = { config, lifecycle: new Lifecycle(log), log }
const app = createApp(options, routes)
const server = Bun.serve({
  hostname: config.HOST,
  port: config.PORT,
  reusePort: false, // in production, a second process would share the port
  idleTimeout: idleTimeout(options),
  fetch: (request: Request, server: Server) =>
    app.fetch(request, { server, address: server.requestIP(request)?.address }),
})
closeOnSignal(options, server.url.origin, () => server.stop())
