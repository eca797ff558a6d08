import { once } from 'node:events'
import { createServer, type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An app, or the server of one, on a free port, closed at the end of the block. */
export async function serve(app: RequestListener | Server) {
  const server = app instanceof Server ? app : createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
