import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Config } from '../process/config.ts'
import { shouldUpgradeCallback } from '../process/drain.ts'
import type { Logger } from '../process/log.ts'
import { HEADER_LIMIT, PROBLEM_JSON } from './contract.ts'
import { createHandlerTimeout, IDLE_MS } from './handler-timeout.ts'
import type { Health } from './health.ts'
import { requestId } from './ids.ts'
import { problem } from './problem.ts'
import { rejectAmbiguousHttp } from './reject-ambiguous-http.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { validateRequest } from './validate-request.ts'

/**
 * Limits of every `http.Server`, for clients that send very slowly: 64 KiB of body take 13 s at 40 kbit/s.
 */
export const SERVER_OPTIONS = {
  // With a value, Node sets two timers per request. `server.setTimeout(IDLE_MS)` sets one per connection.
  keepAliveTimeout: 0,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: HEADER_LIMIT,
  // A second Host or X-Request-Id becomes "a, b" and can be rejected. By default Node drops it.
  joinDuplicateHeaders: true,
  shouldUpgradeCallback,
} as const satisfies ServerOptions

export interface ProtectOptions {
  config: Pick<Config, 'handlerTimeoutMs'>
  health: Pick<Health, 'draining'>
  log: Logger
}

const REQUEST_ID = 'x-request-id'

/**
 * Adds what frameworks leave out, in front of the `request` listener of an existing server (often made by a framework):
 *
 * - limits and timeouts;
 * - 400 and a closed connection for ambiguous HTTP (`rejectAmbiguousHttp`) and for a malformed target or Host (`validateRequest`);
 * - a valid request id: it replaces an invalid one on the request, so frameworks can simply read the header;
 * - the handler timeout: 503, or a cut connection;
 * - `connection: close` while draining.
 *
 * Call it before the server listens, and after the framework has added its listener.
 * @returns the same server
 */
export function protect(server: Server, { config, health, log }: ProtectOptions): Server {
  // Node reads these options when the server starts to listen, or for each new connection.
  Object.assign(server, SERVER_OPTIONS)
  server.setTimeout(IDLE_MS)
  const startHandlerTimeout = createHandlerTimeout(config.handlerTimeoutMs, log)
  const listeners = server.listeners('request') as RequestListener[]

  return server.removeAllListeners('request').on('request', rejectAmbiguousHttp(handle))

  function handle(request: IncomingMessage, response: ServerResponse): void {
    takeRequestId(request)
    if (health.draining) response.shouldKeepAlive = false
    const status = validateRequest(request.url ?? '', request.headers.host)
    if (status === undefined) {
      startHandlerTimeout(response)
      for (const listener of listeners) listener.call(server, request, response)
    } else {
      refuse(response, status)
    }
  }
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

function refuse(response: ServerResponse, status: number): void {
  const body = problem(status)
  response.shouldKeepAlive = false
  response
    .writeHead(status, {
      ...SECURITY_HEADERS,
      [REQUEST_ID]: response.req.headers[REQUEST_ID],
      'content-type': PROBLEM_JSON,
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}
