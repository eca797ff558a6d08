import { createServer, type Server } from 'node:http'

/** Has all the time in the world for a request, and for its response to be read. */
export function createDefect(): Server {
  return createServer({ headersTimeout: 0, requestTimeout: 0 }, (request, response) => {
    request.resume().once('end', () => response.end('a'.repeat(200_000)))
  })
}
