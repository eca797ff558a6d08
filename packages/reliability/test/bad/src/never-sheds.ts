import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'
import { keepBusy } from './keep-busy.ts'

/** Serves everyone, however late. */
export function createDefect(): Server {
  return createHealthy((_request, response) => {
    keepBusy(3)
    response.end('page')
  })
}
