import { createServer, type Server } from 'node:http'

/** Nothing can go wrong where nothing is read. */
export function createDefect(): Server {
  return createServer((_request, response) => {
    response.writeHead(400, { connection: 'close', 'content-length': 0 }).end()
  })
}
