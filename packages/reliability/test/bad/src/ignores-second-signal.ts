import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHealthy } from './healthy.ts'

/** Waits for the load balancer as long as it was told, however often it is asked to go. */
export function createDefect(): Server {
  let isDraining = false
  process.on('SIGTERM', async () => {
    isDraining = true
    await sleep(Number(process.env.SHUTDOWN_DELAY_MS ?? 0))
    server.close(() => process.exit(0))
  })
  const server = createHealthy((request, response) => {
    if (isDraining) response.shouldKeepAlive = false
    response.writeHead(isDraining && request.url === '/readyz' ? 503 : 200).end()
  })
  return server
}
