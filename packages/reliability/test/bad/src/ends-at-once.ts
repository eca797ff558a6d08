import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Leaves an uncaught exception to Node, which prints it and ends the process in the middle of everything. */
export function createDefect(): Server {
  return createHealthy((_request, response) => {
    response.write('half')
    setTimeout(() => response.end('whole'), 1_500)
  })
}
