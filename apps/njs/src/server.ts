import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimPort, formatAddress } from '@startgrid/nginx/address.ts'
import { requireNginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import closeWithGrace from 'close-with-grace'
import { z } from 'zod'
import { readConfig, Settings } from '#shared/config.ts'
import { createLog } from '#shared/log.ts'
import { role } from '#shared/role.ts'
import { filesOf, renderConfig } from './render.ts'

const settings = Settings.extend({
  NJS_WORKERS: z.coerce.number().int().min(1).max(64).default(1), // processes that respond
  NJS_ENGINE: z.enum(['njs', 'qjs']).optional(), // default: the better one of this NGINX
})
const { NJS_WORKERS: workers, NJS_ENGINE, ...config } = readConfig(settings)
const log = createLog(config)

const found = await requireNginx().catch(refuse)
const engine = NJS_ENGINE ?? found.njs?.engine
if (!found.njs || !engine)
  refuse(new Error(`${found.describe()} cannot run JavaScript: install its njs module.`))
if (engine === 'qjs' && found.njs.engine === 'njs')
  refuse(new Error(`${found.describe()} has no QuickJS: choose another one with STARTGRID_NGINX.`))
const nginx = { ...found, njs: { ...found.njs, engine } }

const address = { host: config.HOST, port: config.PORT }
address.port ||= await claimPort(address)
const options = { nginx, config: { ...config, PORT: address.port }, ...filesOf(role, engine) }
const instance = await startNginx(nginx, {
  config: (main) => renderConfig(options, main),
  listen: [address],
  workers,
  output: 'inherit',
}).catch(refuse)

let isStopping = false
closeWithGrace(
  { delay: config.SHUTDOWN_DELAY_MS + config.SHUTDOWN_TIMEOUT_MS, logger: log },
  async ({ err, signal }) => {
    isStopping = true
    if (err) log.fatal({ err }, 'uncaught')
    else log.info({ signal }, 'draining')
    writeFileSync(join(instance.dir, 'draining'), '') // readiness fails
    if (config.SHUTDOWN_DELAY_MS > 0) await sleep(config.SHUTDOWN_DELAY_MS)
    await instance.stop(config.SHUTDOWN_TIMEOUT_MS)
  },
)

const { version } = nginx
const line = { pid: process.pid, address: `http://${formatAddress(address)}`, nginx: version, engine }
// Last, because who reads this line may send SIGTERM. Also at LOG_LEVEL=warn: with PORT=0, it is how one learns the address.
log.child({}, { level: 'info' }).info(line, 'listening')

instance.exited.then(({ code, signal }) => {
  if (!isStopping) throw new Error(`NGINX has ended with ${code ?? signal}.`)
})

function refuse({ message }: Error): never {
  console.error(message)
  process.exit(1)
}
