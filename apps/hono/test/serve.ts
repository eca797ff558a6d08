import type { Server } from 'node:http'
import { readConfig } from '#shared/process/config.ts'
import { listen } from '#shared/process/listen.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(server: Server) {
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
