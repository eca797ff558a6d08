import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createProblem, PROBLEM_JSON, problem } from './problem.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/**
 * Ends a connection with a problem, written to its socket, because the parser or the handler cannot respond any more.
 * @param response the response in progress, if there is one. It is cut if its head has been sent
 */
export function closeWithProblem(socket: Socket, status: number, response?: ServerResponse | null): void {
  if (socket.writable && !response?.headersSent) {
    if (response) response.statusCode = status // for the log
    const { head, body } = rawProblem(status, response?.req.headers['x-request-id'])
    socket.write(response?.req.method === 'HEAD' ? head : head + body)
  }
  socket.destroySoon()
}

function rawProblem(status: number, id: string | string[] | undefined): { head: string; body: string } {
  const body = problem(status)
  const all = {
    ...SECURITY_HEADERS,
    ...(id !== undefined && { 'x-request-id': id }),
    'content-type': PROBLEM_JSON,
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return { head: `HTTP/1.1 ${status} ${createProblem(status).title}\r\n${lines.join('')}\r\n`, body }
}
