import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
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
const { fetch } = createApp({ config, lifecycle, log }, routes)
const options = { fetch, hostname: 'localhost', serverOptions: serverOptions(config) } // the host of HTTP/1.0 without one
const server = trackConnections(createAdaptorServer(options) as Server)

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
