import type { IncomingMessage, ServerResponse } from 'node:http'

/** Not a defect: responds as the apps do, as far as the faults on the wire look, and logs every request as they do. */
export function healthy({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const id = String(headers['x-request-id'])
  process.stdout.write(`${JSON.stringify({ msg: 'request completed', requestId: id, path: url })}\n`)
  const status = url === '/livez' ? 200 : 404
  const body = String(status)
  response.writeHead(status, { 'x-request-id': id, 'content-length': body.length }).end(body)
}
