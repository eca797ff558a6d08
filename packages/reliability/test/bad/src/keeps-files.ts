import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Opens a file for each response, and closes it only if the response is complete. */
export function createDefect(): Server {
  return createHealthy((_request, response) => {
    const file = openSync('/dev/null', 'r')
    response.once('close', () => {
      if (response.writableFinished) closeSync(file)
    })
    setTimeout(() => response.end('OK'), 20)
  })
}
