import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import proxyaddr from 'proxy-addr'
import type { Config } from '../process/config.ts'
import { shouldUpgradeCallback, trackConnections } from '../process/drain.ts'
import { type Logger, logResponse } from '../process/log.ts'
import { createHandlerTimeout, IDLE_MS } from './handler-timeout.ts'
import { requestId } from './ids.ts'
import { closeWithProblem } from './raw-problem.ts'
import { HEADER_LIMIT, isHost, validateRequest } from './validate-request.ts'

/** Options of `createServer` for every server. */
export const SERVER_OPTIONS = {
  // With a value, Node sets two timers per request. `server.setTimeout(IDLE_MS)` sets one per connection.
  keepAliveTimeout: 0,
  headersTimeout: 10_000,
  requestTimeout: 0, // the handler timeout has a limit that grows with the body
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: HEADER_LIMIT,
  // A second Host or X-Request-Id becomes "a, b" and can be rejected. By default Node drops it.
  joinDuplicateHeaders: true,
  // What is refused here becomes a normal request, which gets a 400.
  shouldUpgradeCallback(this: Server, request: IncomingMessage) {
    return isValid(request) && shouldUpgradeCallback.call(this, request)
  },
} satisfies ServerOptions

export interface ProtectOptions {
  config: Pick<Config, 'handlerTimeoutMs' | 'trustProxy'>
  log: Logger
}

const REQUEST_ID = 'x-request-id'

/**
 * Adds what frameworks leave out, in front of the listeners of an existing server, which was created with `SERVER_OPTIONS`:
 *
 * - 400 and a closed connection for ambiguous HTTP and for a malformed target or Host, 417 for an expectation other than `100-continue`,
 *   and problems instead of Node's responses to what is not HTTP;
 * - a valid request id: it replaces an invalid one on the request, so frameworks can simply read the header;
 * - one request at a time per connection. Pipelined requests wait, and nothing more is read, until the client has read;
 * - the handler timeout: 503, or a cut connection.
 *
 * Call it before the server listens, and after the framework has added its listener.
 * @returns the same server
 */
export function protect(server: Server, { config, log }: ProtectOptions): Server {
  server.setTimeout(IDLE_MS)
  const sockets = trackConnections(server)
  const startHandlerTimeout = createHandlerTimeout(sockets, config.handlerTimeoutMs, log)

  const serve = take('request', () => {})
  take('checkContinue', (request, response) => {
    response.writeContinue()
    serve(request, response)
  })
  take('checkExpectation', (request, response) => refuse(request, response, 417))
  return server.removeAllListeners('clientError').on('clientError', refuseConnection)

  /** Puts the checks before the listeners of an event. @returns calls these listeners, or `byDefault` if there are none */
  function take(event: string, byDefault: RequestListener): RequestListener {
    const listeners = server.listeners(event) as RequestListener[]
    const next: RequestListener = (request, response) => {
      for (const listener of listeners) listener.call(server, request, response)
    }
    const accept = listeners.length > 0 ? next : byDefault
    server.removeAllListeners(event).on(event, inTurn(check))
    return accept

    function check(request: IncomingMessage, response: ServerResponse): void {
      takeRequestId(request)
      if (isValid(request)) {
        takePath(request)
        startHandlerTimeout(response)
        accept(request, response)
      } else {
        refuse(request, response, 400)
      }
    }
  }

  function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
    const { method = '', url = '', headers, socket } = request
    closeWithProblem(socket, status, response)
    const client = config.trustProxy ? proxyaddr(request, config.trustProxy) : socket.remoteAddress
    logResponse(log, { requestId: String(headers[REQUEST_ID]), method, url, status, ms: 0, client })
  }
}

/** Of a connection: the requests that wait for the responses before them, and when it was last read on (`performance.now()`). */
interface Queue {
  length: number
  resumedAt: number
}

const queues = new WeakMap<Socket, Queue>()

/**
 * A listener that gets one request of a connection at a time. Node would start the handlers of all pipelined requests, and keep their
 * responses: 4,000 pages of 150 kB. While some wait, nothing is read. But Node has parsed up to 64 KiB at once: 1,700 requests.
 */
function inTurn(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (response.socket !== null) return listener(request, response)
    const { socket } = request
    const queue = queues.get(socket) ?? { length: 0, resumedAt: 0 }
    queues.set(socket, queue)
    // Node resumes the socket when a request ends.
    if (queue.length === 0) socket.pause().on('resume', pause)
    queue.length++
    const next = AsyncLocalStorage.bind(() => listener(request, response))
    response.once('socket', () => {
      queue.length--
      if (queue.length === 0) {
        queue.resumedAt = performance.now()
        socket.off('resume', pause).resume()
      }
      next()
    })
  }
}

function pause(this: Socket): void {
  this.pause()
}

const CLIENT_ERRORS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** For what Node's parser refuses. The error is not passed on: it contains the packet, and it is not a failure of the app. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  const status = CLIENT_ERRORS[error.code ?? ''] ?? 400
  // After a wait, the head that came last is late because nothing was read. Node reports this once; IDLE_MS still limits silence.
  const { length = 0, resumedAt = -Infinity } = queues.get(socket) ?? {}
  if (status === 408 && (length > 0 || performance.now() - resumedAt < SERVER_OPTIONS.headersTimeout)) return
  // Node's own handler also looks there for the response in progress.
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null }
  closeWithProblem(socket, status, response)
}

/** Sets a valid id on the request: in `headers`, and in `rawHeaders`, which adapters to web standards read. */
function takeRequestId({ headers, rawHeaders }: IncomingMessage): void {
  const inbound = headers[REQUEST_ID]
  const id = requestId(inbound)
  if (id === inbound) return
  for (let index = rawHeaders.length - 2; inbound !== undefined && index >= 0; index -= 2)
    if (rawHeaders[index]?.toLowerCase() === REQUEST_ID) rawHeaders.splice(index, 2)
  rawHeaders.push(REQUEST_ID, id)
  headers[REQUEST_ID] = id
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)/i

/**
 * Whether a request is unambiguous and well-formed. Node's parser accepts more than RFC 9112: any version (a request line without one is
 * HTTP/0.9), Transfer-Encoding in HTTP/1.0 or other than `chunked` (sections 6.1, 6.3), and any Host.
 */
function isValid({ httpVersionMajor, httpVersionMinor, headers, url = '' }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1) return false
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) return false
  if (validateRequest(url, headers.host) !== undefined) return false
  if (url.startsWith('/')) return true
  const [, authority] = ABSOLUTE.exec(url) ?? []
  return authority !== undefined && isHost(authority)
}

/** A target with scheme and authority becomes a path and a Host (section 3.2.2). Proxies send such targets; some routers reject them. */
function takePath(request: IncomingMessage): void {
  const { url = '' } = request
  if (url.startsWith('/')) return
  const [origin = '', authority] = ABSOLUTE.exec(url) ?? []
  const path = url.slice(origin.length)
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = authority
}
