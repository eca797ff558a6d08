import { createServer, type Server } from 'node:http'

/** Has no limits, and forgets nothing. */
export function createDefect(): Server {
  const kept: Buffer[] = []
  return createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
    request.on('data', (chunk: Buffer) => kept.push(Buffer.from(chunk)))
    response.end('OK')
  })
}
