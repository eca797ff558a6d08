import type { FastifyInstance } from 'fastify'
import { readConfig } from '#shared/process/config.ts'
import { listen } from '#shared/process/listen.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(app: FastifyInstance) {
  const url = await listen(app.server, readConfig({ PORT: '0' }), (place) => app.listen(place))
  return {
    url,
    async [Symbol.asyncDispose]() {
      app.server.close()
      app.server.closeAllConnections()
    },
  }
}
