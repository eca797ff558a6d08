import { createServer, type Server } from 'node:http'

/** Nothing can go wrong where nothing is read. */
export function createDefect(): Server {
  return createServer(({ headers }, response) => {
    const id = String(headers['x-request-id'])
    response.writeHead(400, { connection: 'close', 'content-length': 0, 'x-request-id': id }).end()
  })
}
