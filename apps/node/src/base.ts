import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { clientAddress } from '#shared/http/client-address.ts'
import { ALLOW, HEALTH_JSON, PROBLEM_JSON } from '#shared/http/contract.ts'
import { createHandlerTimeout } from '#shared/http/handler-timeout.ts'
import { FAIL, type Health, isProbe, PASS } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { errorStatus, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logFailure, logResponse, logsResponses } from '#shared/process/log.ts'

export type App = RequestListener
export type Options = AppOptions<readonly Route[]>

export interface Route {
  method: string
  /** Segments: `:name` matches one that is not empty, a last `*` whatever is left. */
  path: string
  handle(exchange: Exchange): void | Promise<void>
}

type OutgoingHeaders = Record<string, string | number>

/** What stands around the routes: log, ids, headers, errors, health. */
export function createBase({ config, health, log, routes = [] }: Options, own: readonly Route[]): App {
  const match = createMatcher([...own, ...healthRoutes(health), ...routes])
  const limitSilence = createHandlerTimeout(config.handlerTimeoutMs, log)
  const logs = logsResponses(log)

  return (request, response) => {
    const { url = '/', headers } = request
    const exchange = new Exchange(request, response, health)
    limitSilence(response, exchange.id)
    if (logs && !isProbe(url)) logWhenClosed(exchange)
    const status = validateRequest(url, headers.host)
    if (status === undefined) answer(exchange)
    else exchange.sendProblem(status)
  }

  function answer(exchange: Exchange): void {
    try {
      const found = match(exchange)
      if (found === undefined) exchange.sendProblem(404)
      else if (found.handle === undefined) exchange.refuseMethod()
      else found.handle(exchange)?.catch((error: unknown) => fail(exchange, error))
    } catch (error) {
      fail(exchange, error)
    }
  }

  function fail(exchange: Exchange, error: unknown): void {
    const status = errorStatus(error)
    if (status === 500) logFailure(log, exchange.id, error)
    // With the headers gone, only a cut connection can tell the client that the answer is not whole.
    if (exchange.response.headersSent) exchange.response.destroy()
    else exchange.sendProblem(status)
  }

  function logWhenClosed({ id, request, response }: Exchange): void {
    const startedAt = performance.now()
    const { method = '', url = '', socket, headers } = request
    // Now, because a closed connection has no address.
    const client = clientAddress(socket.remoteAddress, headers['x-forwarded-for'], config.trustProxy)
    response.once('close', () => {
      logResponse(log, {
        requestId: id,
        method,
        url,
        status: response.statusCode,
        ms: performance.now() - startedAt,
        client,
      })
    })
  }
}

/** One request and the means to answer it. */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  /** The decoded `:name` segments of the path, in order. */
  params: string[] = []
  readonly #health: Health

  constructor(request: IncomingMessage, response: ServerResponse, health: Health) {
    this.request = request
    this.response = response
    this.id = requestId(request.headers['x-request-id'])
    this.#health = health
  }

  get path(): string {
    const { url = '/' } = this.request
    const query = url.indexOf('?')
    return query === -1 ? url : url.slice(0, query)
  }

  /** A query value as often as it was given. */
  query(name: string): string | string[] | undefined {
    const { url = '/' } = this.request
    const values = new URLSearchParams(url.slice(this.path.length)).getAll(name)
    return values.length > 1 ? values : values[0]
  }

  /** The headers of every answer, with those of this one. */
  headers(own: OutgoingHeaders): OutgoingHeaders {
    const headers: OutgoingHeaders = { ...SECURITY_HEADERS, 'x-request-id': this.id, ...own }
    if (this.#health.draining) headers.connection = 'close'
    return headers
  }

  send(status: number, type: string, body: string | Buffer, headers?: OutgoingHeaders): void {
    const own = { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers }
    this.response.writeHead(status, this.headers(own)).end(body)
  }

  sendProblem(status: number, headers?: OutgoingHeaders): void {
    this.send(status, PROBLEM_JSON, problem(status), headers)
  }

  refuseMethod(): void {
    if (this.request.method === 'OPTIONS') this.response.writeHead(204, this.headers({ allow: ALLOW })).end()
    else this.sendProblem(405, { allow: ALLOW })
  }
}

function healthRoutes(health: Health): Route[] {
  const send = (exchange: Exchange, status: number, body: string) =>
    exchange.send(status, HEALTH_JSON, body, { 'cache-control': 'no-store' })
  return [
    { method: 'GET', path: '/livez', handle: (exchange) => send(exchange, 200, PASS) },
    {
      method: 'GET',
      path: '/readyz',
      handle: (exchange) => (health.draining ? send(exchange, 503, FAIL) : send(exchange, 200, PASS)),
    },
  ]
}

/** The handlers of one path by method. */
type Handlers = Map<string, Route['handle']>

/**
 * Finds the handlers of a path, exactly and case-sensitively: plain paths in a map, patterns one after the other.
 * @returns undefined for an unknown path; `handle` is undefined where the path has no such method
 */
function createMatcher(routes: readonly Route[]) {
  const plain = new Map<string, Handlers>()
  const patterns = new Map<string, { pattern: RegExp; handlers: Handlers }>()
  for (const { method, path, handle } of routes) {
    const isPattern = /[:*]/.test(path)
    const handlers = (isPattern ? patterns.get(path)?.handlers : plain.get(path)) ?? new Map()
    handlers.set(method, handle)
    if (isPattern) patterns.set(path, { pattern: toRegExp(path), handlers })
    else plain.set(path, handlers)
  }

  function findHandlers(exchange: Exchange): Handlers | undefined {
    const { path } = exchange
    const exact = plain.get(path)
    if (exact !== undefined) return exact
    for (const { pattern, handlers } of patterns.values()) {
      const matched = pattern.exec(path)
      if (matched === null) continue
      exchange.params = matched.slice(1).map(decodeURIComponent)
      return handlers
    }
    return undefined
  }

  return (exchange: Exchange): { handle: Route['handle'] | undefined } | undefined => {
    const { method = 'GET' } = exchange.request
    const handlers = findHandlers(exchange)
    // Node leaves the body out of an answer to HEAD by itself.
    return handlers && { handle: handlers.get(method === 'HEAD' ? 'GET' : method) }
  }
}

function toRegExp(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '([^/]+)').replace(/\*$/, '(.+)')}$`)
}
