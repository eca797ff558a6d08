import { ALLOW, HEALTH_JSON, PROBLEM_JSON } from '#shared/http/contract.ts'
import { readForwarded } from '#shared/http/forwarded.ts'
import { FAIL, type Health, isProbe, PASS } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { describeError, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logFailure, logResponse, logsResponses } from '#shared/process/log.ts'
import type { Handler, Respond } from './responder/connection.ts'
import type { Request } from './responder/request.ts'
import type { Headers } from './responder/response.ts'

export type App = Handler
export type Options = AppOptions & { routes?: readonly Route[] }

export interface Route {
  method: string
  /** Segments: `:name` matches one that is not empty. */
  path: string
  handle(context: Context): void | Promise<void>
}

/** The common part of all apps; a role adds its routes. */
export function createBase({ config, health, log, routes = [] }: Options, own: readonly Route[]): App {
  const match = createMatcher([...own, ...healthRoutes(health), ...routes])
  const logs = logsResponses(log)

  return (request, respond) => {
    const { url, params } = request
    const id = requestId(params.get('HTTP_X_REQUEST_ID'))
    const logged = logs && !isProbe(url) ? logging(request, id, respond) : respond
    const context = new Context(request, id, logged)
    const status = validateRequest(url, params.get('HTTP_HOST')) ?? request.refusal
    if (status === undefined) serve(context)
    else context.sendProblem(status)
  }

  function serve(context: Context): void {
    try {
      const found = match(context)
      if (found === undefined) context.sendProblem(404)
      else if (found.handle === undefined) context.refuseMethod()
      else found.handle(context)?.catch((error: unknown) => fail(context, error))
    } catch (error) {
      fail(context, error)
    }
  }

  function fail(context: Context, error: unknown): void {
    const { status } = describeError(error)
    if (status === 500) logFailure(log, context.id, error)
    if (!context.responded) context.sendProblem(status)
  }

  function logging({ method, url, params }: Request, id: string, respond: Respond): Respond {
    const startedAt = performance.now()
    // The web server reports its peer, so X-Forwarded-For is trusted if that peer is.
    const getHeader = (name: string) => params.get(`HTTP_${name.toUpperCase().replaceAll('-', '_')}`)
    const { client } = readForwarded(params.get('REMOTE_ADDR'), getHeader, config.trustProxy)
    return (status, headers, body) => {
      respond(status, headers, body)
      logResponse(log, { requestId: id, method, url, status, ms: performance.now() - startedAt, client })
    }
  }
}

/** One request, and the methods to respond to it. */
export class Context {
  readonly request: Request
  readonly id: string
  /** The decoded `:name` segments of the path, in order. */
  params: string[] = []
  responded = false
  readonly #respond: Respond

  constructor(request: Request, id: string, respond: Respond) {
    this.request = request
    this.id = id
    this.#respond = respond
  }

  get path(): string {
    const { url } = this.request
    const query = url.indexOf('?')
    return query === -1 ? url : url.slice(0, query)
  }

  /** Adds the headers of every response. */
  respond(status: number, headers: Headers, body?: string | Buffer): void {
    this.#respond(status, { ...SECURITY_HEADERS, 'x-request-id': this.id, ...headers }, body)
    this.responded = true
  }

  send(status: number, type: string, body: string | Buffer, headers?: Headers): void {
    const own = { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers }
    this.respond(status, own, body)
  }

  sendProblem(status: number, headers?: Headers): void {
    this.send(status, PROBLEM_JSON, problem(status), headers)
  }

  refuseMethod(): void {
    if (this.request.method === 'OPTIONS') this.respond(204, { allow: ALLOW })
    else this.sendProblem(405, { allow: ALLOW })
  }
}

function healthRoutes(health: Health): Route[] {
  const send = (context: Context, status: number, body: string) =>
    context.send(status, HEALTH_JSON, body, { 'cache-control': 'no-store' })
  return [
    { method: 'GET', path: '/livez', handle: (context) => send(context, 200, PASS) },
    {
      method: 'GET',
      path: '/readyz',
      handle: (context) => (health.draining ? send(context, 503, FAIL) : send(context, 200, PASS)),
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
    const isPattern = path.includes(':')
    const handlers = (isPattern ? patterns.get(path)?.handlers : plain.get(path)) ?? new Map()
    handlers.set(method, handle)
    if (isPattern) patterns.set(path, { pattern: toRegExp(path), handlers })
    else plain.set(path, handlers)
  }

  function findHandlers(context: Context): Handlers | undefined {
    const { path } = context
    const exact = plain.get(path)
    if (exact !== undefined) return exact
    for (const { pattern, handlers } of patterns.values()) {
      const matched = pattern.exec(path)
      if (matched === null) continue
      context.params = matched.slice(1).map(decodeURIComponent)
      return handlers
    }
    return undefined
  }

  return (context: Context): { handle: Route['handle'] | undefined } | undefined => {
    const { method } = context.request
    const handlers = findHandlers(context)
    // The responder leaves the body out of a response to HEAD.
    return handlers && { handle: handlers.get(method === 'HEAD' ? 'GET' : method) }
  }
}

function toRegExp(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '([^/]+)')}$`)
}
