import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Logger, logFailure, withoutQuery } from '../process/log.ts'
import { rawProblem } from './raw-problem.ts'

/** Checks per limit: a response is given up at most a tenth of the limit late. */
const LOOKS = 10

/**
 * Milliseconds without any traffic after which an idle connection is closed. This is longer than NGINX's 60 s. Otherwise NGINX would
 * reuse a connection that is just closing, and respond with 502.
 */
export const IDLE_MS = 65_000

/**
 * Milliseconds without any traffic after which a connection with a slow response is closed. They are added to the handler timeout, so
 * that its 503 can still be sent. Node has no other limit for a client that does not read. NGINX's `send_timeout` is 30 s, too.
 */
const STALL_MS = 10_000

/** What one connection has in progress. */
interface Connection {
  /** In the order in which they are sent: more than one in a pipeline. Those in front may be complete. */
  readonly responses: ServerResponse[]
  /** Of the first one that is not complete: when it last made progress, and how far the connection was then. */
  look: number
  bytes: number
}

/**
 * Ends responses that a handler has forgotten. Node has no limit for this: the client, its connection and the handler's memory would
 * stay for ever. If no byte was sent, the response is 503 (504 is for gateways, RFC 9110); otherwise the connection is cut.
 *
 * The connection closes in both cases, as after a client abort, so that a late write is dropped. (If the framework sent the 503, a late
 * `response.send()` would throw, and in a callback that is an uncaught exception.)
 *
 * Nothing is made per request: no timer, no listener. Each connection has one record, and one periodic check looks at all of them.
 * @param limitMs milliseconds for which a handler may send nothing. The time to receive the request, and to wait for a client that reads
 *   slowly, does not count: the server has other limits for those
 * @returns a function to call with every response. Its request must have a valid `x-request-id`
 */
export function createHandlerTimeout(limitMs: number, log: Logger): (response: ServerResponse) => void {
  const connections = new Map<Socket, Connection>()
  let sweeper: NodeJS.Timeout | undefined
  let look = 0

  function open(socket: Socket): Connection {
    const connection = { responses: [], look, bytes: 0 }
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
    return connection
  }

  function sweep(): void {
    look += 1
    let isIdle = true
    for (const [socket, connection] of connections) {
      const response = dropComplete(connection, look)
      const silenceMs = response === undefined ? IDLE_MS : limitMs + STALL_MS
      if (socket.timeout !== silenceMs) socket.setTimeout(silenceMs) // only here, so fast responses do without
      if (response === undefined) continue
      isIdle = false
      const bytes = socket.bytesWritten
      const isUpToHandler = response.req.complete && !response.writableEnded && !response.writableNeedDrain
      if (bytes !== connection.bytes || !isUpToHandler) Object.assign(connection, { look, bytes })
      else if (look - connection.look >= LOOKS) giveUp(response)
    }
    if (!isIdle) return
    clearInterval(sweeper)
    sweeper = undefined
  }

  function giveUp(response: ServerResponse): void {
    const { method, url = '', headers, socket } = response.req
    const id = String(headers['x-request-id'])
    connections.delete(socket)
    logFailure(
      log,
      id,
      new Error(`The handler of ${method} ${withoutQuery(url)} was silent for ${limitMs} ms.`),
    )
    endResponse(response, id)
  }

  return (response) => {
    const { socket } = response.req
    const connection = connections.get(socket) ?? open(socket)
    dropComplete(connection, look)
    connection.responses.push(response)
    sweeper ??= setInterval(sweep, limitMs / LOOKS).unref()
  }
}

/**
 * Forgets the complete responses in front. The time of the next one begins now.
 * @returns the first response that is not complete
 */
function dropComplete(connection: Connection, look: number): ServerResponse | undefined {
  const { responses } = connection
  while (responses[0]?.closed) {
    responses.shift()
    connection.look = look
  }
  return responses[0]
}

function endResponse(response: ServerResponse, id: string): void {
  const { socket } = response
  // Without a socket, it waits behind an earlier response of a pipeline that does not end either.
  if (socket === null || response.headersSent) {
    response.req.socket.destroy()
    return
  }
  response.statusCode = 503 // for the log
  const { head, body } = rawProblem(503, { 'x-request-id': id })
  socket.write(response.req.method === 'HEAD' ? head : head + body)
  socket.destroySoon()
}
