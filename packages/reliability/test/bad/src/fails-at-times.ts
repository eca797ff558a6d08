import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Every 50th response is a 500. */
export function createDefect(): Server {
  let count = 0
  return createHealthy((_request, response) => {
    count += 1
    response.writeHead(count % 50 === 0 ? 500 : 200).end()
  })
}
