import type { AppOptions } from '#shared/app-options.ts'
import { createApp } from '../src/app.ts'
import type { CreateRoutes } from '../src/routes.ts'

/** An app with more of Bun's options, on a free port, closed at the end of the block. */
export async function serve(options: AppOptions, routes: CreateRoutes, more: object = {}) {
  const server = Bun.serve({ ...createApp(options, routes), hostname: '127.0.0.1', port: 0, ...more })
  return {
    server,
    url: server.url.origin,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
