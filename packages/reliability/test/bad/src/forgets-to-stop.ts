import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Goes on with what nobody waits for: a timer, 30 kB and a line for each client that has left. */
export function createDefect(): Server {
  return createHealthy((_request, response) => {
    const page = Buffer.alloc(30_000)
    response.write(page)
    setTimeout(() => response.end(page), 60_000)
    response.once('close', () => process.stdout.write(`${JSON.stringify({ level: 50, msg: 'left' })}\n`))
  })
}
