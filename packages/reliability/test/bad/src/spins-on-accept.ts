import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'
import { keepBusy } from './keep-busy.ts'

/** Behaves with many connections as a loop around a failing accept() does, and has no file left for a response. */
export function createDefect(): Server {
  let connections = 0
  const server = createHealthy((_request, response) => {
    if (connections > 30) response.statusCode = 500
    response.end('OK')
  })
  function spin(): void {
    console.error('accept: too many open files')
    keepBusy(5)
  }
  return server.on('connection', () => {
    connections++
    if (connections === 30) setInterval(spin, 1)
  })
}
