import { createServer } from 'node:http'
import { protect } from '#shared/http/protect.ts'
import { readConfig } from '#shared/process/config.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { listen } from '#shared/process/listen.ts'
import { createApp } from '../src/app.ts'
import type { Route } from '../src/router.ts'
import { createOptions } from './options.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(routes: readonly Route[], options: AppOptions = createOptions()) {
  const server = protect(createServer(createApp(options, routes)), options)
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
