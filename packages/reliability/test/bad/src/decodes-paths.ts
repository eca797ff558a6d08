import { createServer, type Server } from 'node:http'
import { healthy } from './wire.ts'

/** Responds with 500 where the client is wrong: `GET /%`. */
export function createDefect(): Server {
  return createServer((request, response) => {
    try {
      decodeURIComponent(request.url ?? '')
      healthy(request, response)
    } catch {
      response.writeHead(500, { 'content-length': 0 }).end()
    }
  })
}
