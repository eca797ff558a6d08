import { createServer, type RequestListener, Server } from 'node:http'
import { protect, SERVER_OPTIONS } from '../http/protect.ts'
import { readConfig } from '../process/config.ts'
import { type AppOptions, listen } from '../process/lifecycle.ts'
import { createOptions } from './options.ts'

/** An app, or the server of one, on a free port, closed at the end of the block. */
export async function serve(app: RequestListener | Server, options: AppOptions = createOptions()) {
  const server = app instanceof Server ? app : protect(createServer(SERVER_OPTIONS, app), options)
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
