import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AppOptions } from '@startgrid/shared/app-options.ts'
import { readConfig, Settings } from '@startgrid/shared/config.ts'
import { Lifecycle } from '@startgrid/shared/lifecycle.ts'
import { createLog } from '@startgrid/shared/log.ts'
import { addressOf } from '@startgrid/shared/server.ts'

/** `STAGE=fastify-express server.ts ssr`: a stage with the routes of a role: ssr, status, or partial, which is all that the other two stages have here. */

interface Stage {
  createServer(options: AppOptions, role: string): Server | Promise<Server>
}

const config = readConfig(Settings)
const log = createLog(config)
const { createServer }: Stage = await import(`./${process.env.STAGE}.ts`)
const server = await createServer({ config, log, lifecycle: new Lifecycle(log) }, process.argv[2] ?? '')
await once(server.listen(config.PORT, config.HOST), 'listening')
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: addressOf(server) }))
process.once('SIGTERM', () => process.exit())
