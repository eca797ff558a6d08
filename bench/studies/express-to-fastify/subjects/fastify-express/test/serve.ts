import request from 'supertest'
import { readConfig } from '#shared/process/config.ts'
import { listen } from '#shared/process/listen.ts'
import type { App } from '../src/app.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(creating: Promise<App>) {
  const app = await creating
  await app.ready()
  const url = await listen(app.server, readConfig({ PORT: '0' }))
  return {
    url,
    client: request(url),
    async [Symbol.asyncDispose]() {
      app.server.close()
      app.server.closeAllConnections()
    },
  }
}
