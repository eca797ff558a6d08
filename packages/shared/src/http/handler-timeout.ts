import type { ServerResponse } from 'node:http'
import { type Logger, logFailure, withoutQuery } from '../process/log.ts'
import { PROBLEM_JSON } from './contract.ts'
import { problem } from './problem.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Checks per limit: a response is given up at most a tenth of the limit late. */
const LOOKS = 10

/** How far a response was when it last made progress. */
interface Progress {
  readonly id: string
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
 * One periodic check of all responses costs 0.1 µs per request; a timer and an AbortController per request cost 0.3 µs.
 * @param limitMs milliseconds for which a handler may send nothing. The time to receive the request, and to wait for a client that reads
 *   slowly, does not count: the server has other limits for those
 * @returns a function to call with every request
 */
export function createHandlerTimeout(
  limitMs: number,
  log: Logger,
): (response: ServerResponse, id: string) => void {
  const open = new Map<ServerResponse, Progress>()
  let sweeper: NodeJS.Timeout | undefined
  let look = 0

  function forget(this: ServerResponse): void {
    open.delete(this)
  }

  function sweep(): void {
    look += 1
    for (const [response, progress] of open) {
      const bytes = response.req.socket.bytesWritten
      if (bytes !== progress.bytes || !isUpToHandler(response)) Object.assign(progress, { look, bytes })
      else if (look - progress.look >= LOOKS) giveUp(response, progress.id)
    }
    if (open.size > 0) return
    clearInterval(sweeper)
    sweeper = undefined
  }

  function giveUp(response: ServerResponse, id: string): void {
    open.delete(response)
    const { method, url = '' } = response.req
    logFailure(
      log,
      id,
      new Error(`The handler of ${method} ${withoutQuery(url)} was silent for ${limitMs} ms.`),
    )
    endResponse(response, id)
  }

  return (response, id) => {
    open.set(response, { id, look, bytes: 0 })
    response.on('close', forget)
    sweeper ??= setInterval(sweep, limitMs / LOOKS).unref()
  }
}

function isUpToHandler(response: ServerResponse): boolean {
  return response.req.complete && !response.writableEnded && !response.writableNeedDrain
}

function endResponse(response: ServerResponse, id: string): void {
  const { socket } = response
  // Without a socket, it waits behind an earlier response of a pipeline that does not end either.
  if (socket === null || response.headersSent) {
    response.req.socket.destroy()
    return
  }
  response.statusCode = 503 // for the log
  const body = problem(503)
  const headers = {
    ...SECURITY_HEADERS,
    'x-request-id': id,
    'content-type': PROBLEM_JSON,
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 503 Service Unavailable\r\n${lines.join('')}\r\n`
  socket.write(response.req.method === 'HEAD' ? head : head + body)
  socket.destroySoon()
}
