import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { refuseToListen } from '#shared/server.ts'
import { closeOnSignal } from '#shared/web-server.ts'
import { createApp } from './app.ts'
import { drain } from './drain.ts'
import { routes } from './role.ts'

const config = readConfig(Settings)
const log = createLog(config)
const options = { config, lifecycle: new Lifecycle(log), log }
const app = createApp(options, routes)
const server = listen()
closeOnSignal(options, server.url.origin, () => drain(server))

function listen() {
  const { HOST, PORT } = config
  try {
    return Bun.serve({ ...app, hostname: HOST, port: PORT })
  } catch (error) {
    return refuseToListen(new Error(`Bun cannot listen on ${HOST}:${PORT} (${Object(error).code})`))
  }
}
