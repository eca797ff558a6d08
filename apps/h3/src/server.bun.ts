import { serve } from 'h3'
import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { closeOnSignal, idleTimeout } from '#shared/web-server.ts'
import { createApp } from './app.ts'
import { routes } from './role.ts'

const config = readConfig(Settings)
const log = createLog(config)
const options = { config, lifecycle: new Lifecycle(log), log }
const app = createApp(options, routes)
const server = serve(app, {
  hostname: config.HOST,
  port: config.PORT,
  silent: true,
  gracefulShutdown: false, // below
  maxRequestBodySize: 64 * 1024,
  reusePort: false, // in production, a second process would share the port
  bun: { idleTimeout: idleTimeout(options) },
})
await server.ready()
closeOnSignal(options, new URL(server.url ?? '').origin, () => server.close())
