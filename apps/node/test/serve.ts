import { createServer } from 'node:http'
import { protect } from '#shared/http/protect.ts'
import { readConfig } from '#shared/process/config.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { listen } from '#shared/process/listen.ts'
import { createApp } from '../src/app.ts'
import type { Route } from '../src/router.ts'
import { createOptions } from './options.ts'

/**
 * A server on a free port, closed at the end of the block.
 * @param peer the address that its connections pretend to come from
 */
export async function serve(routes: readonly Route[], options: AppOptions = createOptions(), peer?: string) {
  const server = protect(createServer(createApp(options, routes)), options)
  if (peer !== undefined)
    server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: peer }))
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
