import closeWithGrace from 'close-with-grace'
import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { keepAccepting, refuseToListen } from '#shared/server.ts'
import { createApp } from './app.ts'
import { routes } from './role.ts'

const config = readConfig(Settings)
const log = createLog(config)
const lifecycle = new Lifecycle(log)
const app = createApp({ config, lifecycle, log }, routes)

closeWithGrace(
  { delay: config.SHUTDOWN_DELAY_MS + config.SHUTDOWN_TIMEOUT_MS, logger: log },
  async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    lifecycle.drain() // readiness fails
    await keepAccepting(app.server, config.SHUTDOWN_DELAY_MS)
    await app.close() // drains, in app.ts
    await lifecycle.close()
  },
)

await app.ready() // so that `refuseToListen` gets only errors of listening
const address = await app.listen({ port: config.PORT, host: config.HOST }).catch(refuseToListen)
// Also at LOG_LEVEL=warn: with PORT=0, this line is how one learns the address.
log.child({}, { level: 'info' }).info({ pid: process.pid, address }, 'listening')
