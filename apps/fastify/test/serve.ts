import type { App } from '../src/base.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(app: App) {
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    async [Symbol.asyncDispose]() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}
