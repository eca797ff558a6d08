import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Config } from '../process/config.ts'
import type { Logger } from '../process/log.ts'
import { HEADER_LIMIT, PROBLEM_JSON } from './contract.ts'
import { createHandlerTimeout } from './handler-timeout.ts'
import type { Health } from './health.ts'
import { requestId } from './ids.ts'
import { problem } from './problem.ts'
import { rejectAmbiguousHttp } from './reject-ambiguous-http.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { validateRequest } from './validate-request.ts'

/**
 * Limits of every `http.Server`. Keep-alive outlives NGINX's (60 s); if it did not, NGINX would reuse a connection that was just closed:
 * 502. The other times end clients that send at a trickle: headers fit a few packets, and 64 KiB of body take 13 s at 40 kbit/s.
 */
export const SERVER_OPTIONS = {
  keepAliveTimeout: 65_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: HEADER_LIMIT,
  // A second Host or X-Request-Id is seen, as "a, b", instead of dropped.
  joinDuplicateHeaders: true,
} as const satisfies ServerOptions

/**
 * Milliseconds for which a client may neither take nor send a byte before it is cut off, on top of the handler timeout (else the 503 of
 * that would never leave). Nothing else in Node ends a client that does not read; NGINX's `send_timeout` is 30 s too.
 */
const STALL_MS = 10_000

export interface ProtectOptions {
  config: Pick<Config, 'handlerTimeoutMs'>
  health: Pick<Health, 'draining'>
  log: Logger
}

const REQUEST_ID = 'x-request-id'

/**
 * Stands before the `request` listener of a server that exists already, often one that a framework made, and does what no framework
 * does:
 *
 * - limits and timeouts; the connection closes after what the parser refuses (a proxy that reuses it would respond with 502);
 * - 400 and a closed connection for ambiguous HTTP (`rejectAmbiguousHttp`) and for a malformed target or Host (`validateRequest`);
 * - the request id: an inbound one that is not acceptable is replaced on the request, so that every framework can just read it;
 * - the handler timeout: 503, or a cut connection;
 * - `connection: close` while draining.
 *
 * Call it before the server listens, and after the framework has added its listener.
 * @returns the same server
 */
export function protect(server: Server, { config, health, log }: ProtectOptions): Server {
  // All are read when the server starts to listen, or per connection.
  Object.assign(server, SERVER_OPTIONS)
  server.setTimeout(config.handlerTimeoutMs + STALL_MS)
  const limitSilence = createHandlerTimeout(config.handlerTimeoutMs, log)
  const listeners = server.listeners('request') as RequestListener[]

  return server
    .removeAllListeners('request')
    .removeAllListeners('clientError') // Node's own reaction: 400, 408 or 431, and a closed connection
    .on('request', rejectAmbiguousHttp(handle))

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const id = takeRequestId(request)
    if (health.draining) response.shouldKeepAlive = false
    const status = validateRequest(request.url ?? '', request.headers.host)
    if (status === undefined) {
      limitSilence(response, id)
      for (const listener of listeners) listener.call(server, request, response)
    } else {
      refuse(response, status, id)
    }
  }
}

/** Puts an acceptable id on the request: in `headers`, and in `rawHeaders`, which adapters to web standards read. */
function takeRequestId({ headers, rawHeaders }: IncomingMessage): string {
  const inbound = headers[REQUEST_ID]
  const id = requestId(inbound)
  if (id === inbound) return id
  for (let index = rawHeaders.length - 2; inbound !== undefined && index >= 0; index -= 2)
    if (rawHeaders[index]?.toLowerCase() === REQUEST_ID) rawHeaders.splice(index, 2)
  rawHeaders.push(REQUEST_ID, id)
  headers[REQUEST_ID] = id
  return id
}

function refuse(response: ServerResponse, status: number, id: string): void {
  const body = problem(status)
  response.shouldKeepAlive = false
  response
    .writeHead(status, {
      ...SECURITY_HEADERS,
      [REQUEST_ID]: id,
      'content-type': PROBLEM_JSON,
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}
