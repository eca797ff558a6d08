import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Logger, logFailure, withoutQuery } from '../process/log.ts'
import { closeWithProblem } from './raw-problem.ts'

/** Looks per limit: a response is given up at most two tenths of the limit late. */
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

/** Milliseconds that a client may take to send a body, and the bytes per second that give it more time (1 s for each 500). */
const BODY_MS = 30_000
const BODY_RATE = 500

/** Of one connection: its last response, and what the sweep saw of that. Times are numbers of sweeps. */
interface Connection {
  response: ServerResponse
  /** The response that the other fields are about. */
  seen?: ServerResponse
  since: number
  /** When bytes last moved, and `bytesWritten` then. */
  moved: number
  written: number
  /** `bytesRead` at `since`. */
  read: number
}

/**
 * Ends responses that a handler has forgotten. Node has no limit for this: the client, its connection and the handler's memory would
 * stay for ever. If no byte was sent, the response is 503 (504 is for gateways, RFC 9110); otherwise the connection is cut. An event
 * stream may be silent. A body that arrives too slowly is 408: Node's `requestTimeout` is fixed, however large the body is.
 *
 * The connection closes in all cases, as after a client abort, so that a late write is dropped. (If the framework sent the 503, a late
 * `response.send()` would throw, and in a callback that is an uncaught exception.)
 *
 * A request costs no timer and no listener: one sweep looks at all connections.
 * @param sockets the open connections
 * @param limitMs milliseconds for which a handler may send nothing. The time to receive the request, and to wait for a client that reads
 *   slowly, does not count
 * @param bodyMs milliseconds to receive a body, without the time for its length
 * @returns a function to call with each response when its handler starts, one at a time per connection
 */
export function createHandlerTimeout(
  sockets: Iterable<Socket>,
  limitMs: number,
  log: Logger,
  bodyMs: number = BODY_MS,
): (response: ServerResponse) => void {
  const connections = new WeakMap<Socket, Connection>()
  const lookMs = limitMs / LOOKS
  let sweeper: NodeJS.Timeout | undefined
  let now = 0

  function sweep(): void {
    now += 1
    let isIdle = true
    for (const socket of sockets) {
      const connection = connections.get(socket)
      if (connection === undefined || socket.destroyed) continue
      const { response } = connection
      const isBusy = !(response.closed && response.req.complete)
      const isOpenEnded = isBusy && isEventStream(response) && !response.writableNeedDrain
      const silenceMs = isOpenEnded ? 0 : isBusy ? limitMs + STALL_MS : IDLE_MS
      if (socket.timeout !== silenceMs) socket.setTimeout(silenceMs) // only here, so fast responses do without
      if (!isBusy) continue
      isIdle = false
      const { bytesWritten: written, bytesRead: read } = socket
      const isUpToHandler = response.req.complete && !response.writableEnded && !response.writableNeedDrain
      if (connection.seen !== response)
        Object.assign(connection, { seen: response, since: now, moved: now, written, read })
      else if (written !== connection.written || !isUpToHandler || isOpenEnded)
        Object.assign(connection, { moved: now, written })
      if (now - connection.moved >= LOOKS) giveUp(response)
      const bodyTimeMs = bodyMs + ((read - connection.read) / BODY_RATE) * 1000
      if (!response.req.complete && (now - connection.since) * lookMs > bodyTimeMs) end(response, 408)
    }
    if (!isIdle) return
    clearInterval(sweeper)
    sweeper = undefined
  }

  function giveUp(response: ServerResponse): void {
    const { method, url = '', headers } = response.req
    const error = new Error(`The handler of ${method} ${withoutQuery(url)} was silent for ${limitMs} ms.`)
    logFailure(log, String(headers['x-request-id']), error)
    end(response, 503)
  }

  function end(response: ServerResponse, status: number): void {
    const { socket } = response.req
    connections.delete(socket)
    closeWithProblem(socket, status, response)
  }

  return (response) => {
    const { socket } = response.req
    const connection = connections.get(socket)
    if (connection === undefined)
      connections.set(socket, { response, since: 0, moved: 0, written: 0, read: 0 })
    else connection.response = response
    sweeper ??= setInterval(sweep, lookMs).unref()
  }
}

/** Reads the head as it was sent, because `getHeader` does not know the headers that only `writeHead` got. */
function isEventStream(response: ServerResponse & { _header?: string | null }): boolean {
  return response.headersSent && /^content-type: *text\/event-stream/im.test(response._header ?? '')
}
