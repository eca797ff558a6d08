import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AppOptions } from '@startgrid/shared/app-options.ts'
import { readConfig, Settings } from '@startgrid/shared/config.ts'
import { Health } from '@startgrid/shared/health.ts'
import { createLog } from '@startgrid/shared/log.ts'
import { addressOf } from '@startgrid/shared/server.ts'

/** What `createApp` of an app gets, by the environment. */
export function readOptions(): AppOptions {
  const config = readConfig(Settings)
  const log = createLog(config)
  return { config, log, health: new Health(log) }
}

/** Listens, and says so as the launcher of the grid expects. */
export async function start(server: Server, { config }: AppOptions): Promise<void> {
  await once(server.listen(config.PORT, config.HOST), 'listening')
  console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: addressOf(server) }))
  process.once('SIGTERM', () => process.exit())
}
