import { createServer, type RequestListener, type Server } from 'node:http'

/** What the defects have in common: any path gets a response, and each response is logged. */
export function createHealthy(respond: RequestListener = (_request, response) => response.end('OK')): Server {
  return createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    if (request.method === 'POST') response.statusCode = 405
    process.stdout.write(
      `${JSON.stringify({ requestId: request.headers['x-request-id'], msg: 'request completed' })}\n`,
    )
    respond(request, response)
  })
}
