import type { RequestListener } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, type Handler, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { clientAddress } from '#shared/client.ts'
import { ALLOW, HEALTH_JSON, PROBLEM_JSON, SECURITY_HEADERS } from '#shared/contract.ts'
import { refusal } from '#shared/guard.ts'
import { FAIL, isProbe, PASS } from '#shared/health.ts'
import { requestId } from '#shared/ids.ts'
import type { AppOptions } from '#shared/lifecycle.ts'
import { logAnswer, logFailure, logsAnswers } from '#shared/log.ts'
import { errorStatus, problem } from '#shared/problem.ts'

export interface Env {
  Bindings: HttpBindings
  Variables: { id: string }
}
export type App = Hono<Env>
export type Options = AppOptions<(app: App) => void>

/** What all apps have in common; a role adds its routes. */
export function createBase({ config, health, log, routes }: Options): App {
  // The path as it was sent. Hono's own is taken from a URL, in which dot segments are resolved: /hello/%2E%2E would be /.
  const app: App = new Hono<Env>({ getPath: (_request, options) => pathOf(options?.env?.incoming.url) })
  const logs = logsAnswers(log)

  app.use(async (c, next) => {
    const { incoming } = c.env
    const { url = '/', headers } = incoming
    const id = requestId(headers['x-request-id'])
    c.set('id', id)
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value)
    c.header('x-request-id', id)
    if (logs && !isProbe(url)) logWhenClosed(c)
    const status = refusal(url, headers.host, headers['content-length'])
    if (status === undefined) await next()
    else c.res = sendProblem(c, status)
    if (health.draining) c.header('connection', 'close')
    if (c.req.method === 'HEAD') await addLength(c)
  })

  app.notFound((c) => sendProblem(c, 404))
  app.onError((error, c) => {
    const status = errorStatus(error)
    if (status === 500) logFailure(log, c.var.id, error)
    return sendProblem(c, status)
  })

  get(app, '/livez', (c) => sendHealth(c, 200, PASS))
  get(app, '/readyz', (c) => (health.draining ? sendHealth(c, 503, FAIL) : sendHealth(c, 200, PASS)))
  routes?.(app)
  return app

  function logWhenClosed(c: Context<Env>): void {
    const startedAt = performance.now()
    const { incoming, outgoing } = c.env
    const { method = '', url = '', socket, headers } = incoming
    // Now, because a closed connection has no address.
    const client = clientAddress(socket.remoteAddress, headers['x-forwarded-for'], config.trustProxy)
    outgoing.once('close', () => {
      // A body stream that failed after the headers were sent; the adapter cuts the connection.
      if (outgoing.errored) logFailure(log, c.var.id, outgoing.errored)
      logAnswer(log, {
        id: c.var.id,
        method,
        url,
        status: outgoing.statusCode,
        ms: performance.now() - startedAt,
        client,
      })
    })
  }
}

function pathOf(target = '/'): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** A route for GET, and so HEAD. Hono alone answers 404 to other methods. */
export function get<Path extends string>(app: App, path: Path, handler: Handler<Env, Path>): void {
  app.get(path, handler)
  app.all(path, (c) => {
    c.header('allow', ALLOW)
    return c.req.method === 'OPTIONS' ? c.body(null, 204) : sendProblem(c, 405)
  })
}

export function sendProblem(c: Context<Env>, status: number): Response {
  return c.body(problem(status), status as ContentfulStatusCode, { 'content-type': PROBLEM_JSON })
}

/**
 * The app as a listener of an `http.Server`. The adapter makes a URL of Host and target before any middleware sees the request;
 * two Host headers make none, so they are refused here.
 * @param hostname stands in for the Host header, which HTTP/1.0 may leave out
 */
export function createListener({ fetch }: App, hostname: string): RequestListener {
  const listener = getRequestListener(fetch, { hostname })
  return (incoming, outgoing) => {
    if (refusal('/', incoming.headers.host, undefined) === undefined) return listener(incoming, outgoing)
    const headers = { ...SECURITY_HEADERS, 'x-request-id': requestId(incoming.headers['x-request-id']) }
    const body = problem(400)
    outgoing
      .writeHead(400, { ...headers, 'content-type': PROBLEM_JSON, 'content-length': Buffer.byteLength(body) })
      .end(body)
  }
}

function sendHealth(c: Context<Env>, status: 200 | 503, body: string): Response {
  return c.body(body, status, { 'cache-control': 'no-store', 'content-type': HEALTH_JSON })
}

/** Hono drops the body of GET to answer HEAD, and with it the length. A stream has none. */
async function addLength(c: Context<Env>): Promise<void> {
  if (c.res.body === null) return
  const { byteLength } = await c.res.clone().arrayBuffer()
  c.header('content-length', String(byteLength))
}
