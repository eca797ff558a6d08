import type { ServerResponse } from 'node:http'
import { type Logger, logFailure } from '../process/log.ts'
import { PROBLEM_JSON } from './contract.ts'
import { problem } from './problem.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Looks per limit: an answer is given up at most a tenth of the limit late. */
const LOOKS = 10

/** Where an answer stood when it was last seen to move. */
interface Progress {
  readonly id: string
  look: number
  bytes: number
}

/**
 * Ends answers that a handler has forgotten: nothing in Node does, and the client, its connection and what the handler holds would
 * stay for good. An answer that has not begun becomes 503 (RFC 9110 has 504 for gateways); one that has begun is cut. Either way the
 * connection closes: to the handler it is as if the client had left, so that whatever it sends too late is dropped. (An answer
 * through the framework would make `response.send()` throw then, in a callback an uncaught exception.)
 *
 * One sweep over the answers in flight costs 0.1 µs per request; a timer and an AbortController each, 0.3 µs.
 * @param limitMs for which a handler may be silent. Neither a request that is still coming in nor a client that is slow to read counts:
 *   for both the server has its own limits
 * @returns to be called with every request
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
    const { method, url } = response.req
    logFailure(log, id, new Error(`The handler of ${method} ${url} was silent for ${limitMs} ms.`))
    endAnswer(response, id)
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

function endAnswer(response: ServerResponse, id: string): void {
  const { socket } = response
  // Without a socket it waits behind an earlier answer of a pipeline, which does not end either.
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
