import { createServer, type Server } from 'node:http'
import { healthy } from './wire.ts'

/** Makes a URL of what the client sent, as tutorials do: `GET //` throws, and nobody catches it. */
export function createDefect(): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', `http://${request.headers.host}`)
    if (pathname !== '') healthy(request, response)
  })
}
