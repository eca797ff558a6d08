import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { refuseToListen } from '#shared/server.ts'
import { createApp } from './app.ts'
import { drain } from './drain.ts'
import { routes } from './role.ts'

const config = readConfig(Settings)
const log = createLog(config)
const lifecycle = new Lifecycle(log)
const app = createApp({ config, lifecycle, log }, routes)
const server = listen()

closeWithGrace(
  { delay: config.SHUTDOWN_DELAY_MS + config.SHUTDOWN_TIMEOUT_MS, logger: log },
  async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    lifecycle.drain() // readiness fails
    if (config.SHUTDOWN_DELAY_MS > 0) await sleep(config.SHUTDOWN_DELAY_MS)
    await drain(server)
    await lifecycle.close()
  },
)

// Last, because who reads this line may send SIGTERM. Also at LOG_LEVEL=warn: with PORT=0, it is how one learns the address.
log.child({}, { level: 'info' }).info({ pid: process.pid, address: server.url.origin }, 'listening')

function listen() {
  const { HOST, PORT } = config
  try {
    return Bun.serve({ ...app, hostname: HOST, port: PORT })
  } catch (error) {
    return refuseToListen(new Error(`Bun cannot listen on ${HOST}:${PORT} (${Object(error).code})`))
  }
}
