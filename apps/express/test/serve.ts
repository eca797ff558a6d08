import { createServer } from 'node:http'
import { SERVER_OPTIONS } from '#shared/http/protect.ts'
import { readConfig } from '#shared/process/config.ts'
import { listen } from '#shared/process/listen.ts'
import type { App } from '../src/base.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(app: App) {
  const server = createServer(SERVER_OPTIONS, app)
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
