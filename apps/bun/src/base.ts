import type { BunRequest, Server as BunServer } from 'bun'
import { clientAddress } from '#shared/http/client-address.ts'
import { ALLOW, HEALTH_JSON, PROBLEM_JSON } from '#shared/http/contract.ts'
import { FAIL, type Health, isProbe, PASS } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { errorStatus, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import { watchBody } from '#shared/http/watch-body.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logFailure, logResponse, logsResponses } from '#shared/process/log.ts'

type Server = BunServer<undefined>

/** What `Bun.serve` needs beside an address. */
export interface App {
  routes: Record<string, (request: BunRequest, server: Server) => Promise<Response>>
  fetch(request: Request, server: Server): Promise<Response>
}
export type Options = AppOptions<readonly Route[]>

export interface Route {
  method: string
  /** In Bun's notation: `:name` matches a segment that is not empty, a last `*` whatever is left. */
  path: string
  handle(exchange: Exchange): Response | Promise<Response>
}

type OutgoingHeaders = Record<string, string>

/** What stands around the routes: log, ids, headers, errors, health. */
export function createBase(options: Options, own: readonly Route[]): App {
  const { config, health, log, routes = [] } = options
  const logs = logsResponses(log)
  const all = [...own, ...healthRoutes(health), ...routes]

  return {
    // One function per path, not one per method: Bun would send the other methods to `fetch`, which cannot tell 405 from 404.
    routes: Object.fromEntries(
      all.map((route) => [route.path, (request, server) => answer(request, server, route)]),
    ),
    fetch: (request, server) => answer(request, server, undefined),
  }

  async function answer(request: Request, server: Server, route: Route | undefined): Promise<Response> {
    const startedAt = performance.now()
    const exchange = new Exchange(request, options)
    // Now, because a closed connection has no address.
    const peer = logs ? server.requestIP(request)?.address : undefined
    const response = await respond(exchange, route)
    if (logs && !isProbe(exchange.target)) logExchange(exchange, response.status, startedAt, peer)
    return response
  }

  async function respond(exchange: Exchange, route: Route | undefined): Promise<Response> {
    const { method, headers } = exchange.request
    const refused = validateRequest(exchange.target, headers.get('host'))
    if (refused !== undefined) return exchange.sendProblem(refused)
    if (route === undefined) return exchange.sendProblem(404)
    if ((method === 'HEAD' ? 'GET' : method) !== route.method) return exchange.refuseMethod()
    try {
      const response = route.handle(exchange)
      return response instanceof Promise ? await limitSilence(exchange, response) : response
    } catch (error) {
      const status = errorStatus(error)
      if (status === 500) logFailure(log, exchange.id, error)
      return exchange.sendProblem(status)
    }
  }

  /**
   * A handler that never answers is given up, with 503 (RFC 9110 has 504 for gateways): Bun would only cut the connection, after
   * `idleTimeout`, and say nothing. One that answers at once needs no timer.
   */
  function limitSilence(exchange: Exchange, answer: Promise<Response>): Promise<Response> {
    const { promise: late, resolve } = Promise.withResolvers<Response>()
    const timer = setTimeout(() => {
      const { method } = exchange.request
      const silence = `The handler of ${method} ${exchange.target} was silent for ${config.handlerTimeoutMs} ms.`
      logFailure(log, exchange.id, new Error(silence))
      resolve(exchange.sendProblem(503, { connection: 'close' }))
    }, config.handlerTimeoutMs)
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  /** Bun does not say when an answer has left: this is the time until it was handed over. */
  function logExchange(
    { id, request, target: url }: Exchange,
    status: number,
    startedAt: number,
    peer: string | undefined,
  ): void {
    const { method, headers } = request
    const client = clientAddress(peer, headers.get('x-forwarded-for'), config.trustProxy)
    logResponse(log, { requestId: id, method, url, status, ms: performance.now() - startedAt, client })
  }
}

/** One request and the means to answer it. */
export class Exchange {
  readonly request: Request
  readonly id: string
  /** The request target. Bun's `request.url` has the Host in front, except in HTTP/1.0 without one. */
  readonly target: string
  readonly #options: Options

  constructor(request: Request, options: Options) {
    const { url, headers } = request
    this.request = request
    this.id = requestId(headers.get('x-request-id'))
    this.target = url.startsWith('/') ? url : url.slice(url.indexOf('/', 'http://'.length))
    this.#options = options
  }

  /** The decoded `:name` segments of the path. */
  get params(): Record<string, string> {
    return (this.request as BunRequest<string>).params
  }

  get path(): string {
    const query = this.target.indexOf('?')
    return query === -1 ? this.target : this.target.slice(0, query)
  }

  /** A query value as often as it was given. */
  query(name: string): string[] | undefined {
    const values = new URLSearchParams(this.target.slice(this.path.length)).getAll(name)
    return values.length > 0 ? values : undefined
  }

  /** The headers of every answer, with those of this one. */
  headers(own: OutgoingHeaders): OutgoingHeaders {
    const headers: OutgoingHeaders = { ...SECURITY_HEADERS, 'x-request-id': this.id, ...own }
    if (this.#options.health.draining) headers.connection = 'close'
    return headers
  }

  send(
    status: number,
    type: string,
    body: string | Uint8Array<ArrayBuffer> | ReadableStream,
    headers?: OutgoingHeaders,
  ): Response {
    const content =
      body instanceof ReadableStream && this.request.method !== 'HEAD' ? this.#watch(body) : body
    return new Response(content, { status, headers: this.headers({ 'content-type': type, ...headers }) })
  }

  #watch(body: ReadableStream): ReadableStream {
    const { config, log } = this.#options
    const { signal } = this.request
    return watchBody(body, config.handlerTimeoutMs, signal, (error) => logFailure(log, this.id, error))
  }

  sendProblem(status: number, headers?: OutgoingHeaders): Response {
    return this.send(status, PROBLEM_JSON, problem(status), headers)
  }

  refuseMethod(): Response {
    if (this.request.method !== 'OPTIONS') return this.sendProblem(405, { allow: ALLOW })
    return new Response(null, { status: 204, headers: this.headers({ allow: ALLOW }) })
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
