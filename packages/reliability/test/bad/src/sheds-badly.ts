import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'
import { keepBusy } from './keep-busy.ts'

/** Refuses nine of ten, probes too and when there is nothing to do, and says neither why nor until when. */
export function createDefect(): Server {
  let requests = 0
  return createHealthy((_request, response) => {
    requests++
    if (requests % 10 !== 0) response.statusCode = 503
    else keepBusy(3)
    response.end('sorry')
  })
}
