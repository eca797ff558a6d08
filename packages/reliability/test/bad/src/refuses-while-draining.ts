import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHealthy } from './healthy.ts'

/** Responds with 503 to everybody from SIGTERM on, and takes its time. */
export function createDefect(): Server {
  let isDraining = false
  const server = createHealthy((_request, response) => {
    response.writeHead(isDraining ? 503 : 200, isDraining ? { connection: 'close' } : {}).end()
  })
  process.on('SIGTERM', async () => {
    isDraining = true
    await sleep(300)
    process.exit(0)
  })
  return server
}
