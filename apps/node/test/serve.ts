import { createServer } from 'node:http'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { readConfig } from '#shared/process/config.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { listen } from '#shared/process/listen.ts'
import { createOptions } from '#shared/process/testing.ts'
import { createApp } from '../src/app.ts'
import type { Route } from '../src/router.ts'

/**
 * A server on a free port, closed at the end of the block.
 * @param pretended its connections seem to come from this peer
 */
export async function serve(
  routes: readonly Route[],
  options: AppOptions = createOptions(),
  pretended?: { peer: string | undefined },
) {
  const server = protect(createServer(SERVER_OPTIONS, createApp(options, routes)), options)
  if (pretended !== undefined)
    server.on('connection', (socket) =>
      Object.defineProperty(socket, 'remoteAddress', { value: pretended.peer }),
    )
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
