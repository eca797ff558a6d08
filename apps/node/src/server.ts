import { createServer } from 'node:http'
import closeWithGrace from 'close-with-grace'
import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { drain, keepAccepting, listen, serverOptions, trackConnections } from '#shared/server.ts'
import { createApp } from './app.ts'
import { routes } from './role.ts'

const config = readConfig(Settings)
const log = createLog(config)
const lifecycle = new Lifecycle(log)
const app = createApp({ config, lifecycle, log }, routes)
const server = trackConnections(createServer(serverOptions(config), app))

listen(server, { config, log })

closeWithGrace(
  { delay: config.SHUTDOWN_DELAY_MS + config.SHUTDOWN_TIMEOUT_MS, logger: log },
  async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    lifecycle.drain() // readiness fails
    await keepAccepting(server, config.SHUTDOWN_DELAY_MS)
    await drain(server)
    await lifecycle.close()
  },
)
