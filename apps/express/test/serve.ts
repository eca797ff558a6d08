import { createServer } from 'node:http'
import type { Express } from 'express'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { readConfig } from '#shared/process/config.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { listen } from '#shared/process/listen.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(app: Express, options: AppOptions) {
  const server = protect(createServer(SERVER_OPTIONS, app), options)
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
