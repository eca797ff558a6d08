import Router, { type RouterContext } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import { clientAddress } from '#shared/http/client-address.ts'
import { ALLOW, HEALTH_JSON, PROBLEM_JSON } from '#shared/http/contract.ts'
import { createHandlerTimeout } from '#shared/http/handler-timeout.ts'
import { FAIL, isProbe, PASS } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { errorStatus, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { isClientAbort, logFailure, logResponse, logsResponses } from '#shared/process/log.ts'

export type App = Koa
export type Options = AppOptions<(router: Router) => void>

/** What stands around the routes: log, ids, headers, errors, health. */
export function createBase(
  { config, health, log, routes }: Options,
  addRoutes: (router: Router) => void,
): App {
  const app = new Koa()
  const router = new Router({ sensitive: true, strict: true })
  router.get('/livez', (ctx) => sendHealth(ctx, 200, PASS))
  router.get('/readyz', (ctx) => (health.draining ? sendHealth(ctx, 503, FAIL) : sendHealth(ctx, 200, PASS)))
  addRoutes(router)
  routes?.(router)

  // A body stream that fails after the headers were sent; Koa cuts the connection and tells it twice.
  app.on('error', (error: unknown, ctx: Context) => {
    if (isClientAbort(error) || ctx.state.failure === error) return
    ctx.state.failure = error
    logFailure(log, ctx.state.id, error)
  })
  const limitSilence = createHandlerTimeout(config.handlerTimeoutMs, log)
  const logs = logsResponses(log)

  app.use(async (ctx, next) => {
    const id = requestId(ctx.req.headers['x-request-id'])
    ctx.state.id = id
    ctx.set(SECURITY_HEADERS)
    ctx.set('x-request-id', id)
    limitSilence(ctx.res, id)
    if (logs && !isProbe(ctx.url)) logWhenClosed(ctx)
    const { host } = ctx.req.headers
    const status = validateRequest(ctx.url, host)
    if (status === undefined) await next().catch((error: unknown) => fail(ctx, error))
    else sendProblem(ctx, status)
    if (health.draining) ctx.set('connection', 'close')
  })
  app.use(router.routes())
  app.use(refuseOtherMethods(router))
  return app

  function fail(ctx: Context, error: unknown): void {
    const status = errorStatus(error)
    if (status === 500) logFailure(log, ctx.state.id, error)
    // With the headers gone, only a cut connection can tell the client that the answer is not whole.
    if (ctx.headerSent) ctx.res.destroy()
    else sendProblem(ctx, status)
  }

  function logWhenClosed(ctx: Context): void {
    const startedAt = performance.now()
    const { method, originalUrl: url, req } = ctx
    // Now, because a closed connection has no address.
    const client = clientAddress(req.socket.remoteAddress, req.headers['x-forwarded-for'], config.trustProxy)
    ctx.res.once('close', () => {
      logResponse(log, {
        requestId: ctx.state.id,
        method,
        url,
        status: ctx.status,
        ms: performance.now() - startedAt,
        client,
      })
    })
  }
}

/** The router's own allowedMethods() answers OPTIONS with 200 and leaves it out of Allow. */
function refuseOtherMethods(router: Router): Middleware {
  return (ctx) => {
    if (ctx.status !== 404 || ctx.body) return
    if (router.match(ctx.path, 'GET').pathAndMethod.length === 0) return sendProblem(ctx, 404)
    ctx.set('allow', ALLOW)
    if (ctx.method === 'OPTIONS') ctx.status = 204
    else sendProblem(ctx, 405)
  }
}

/** The type is set before the body and as a header: `ctx.type` would add a charset, and JSON has none (RFC 8259 section 11). */
export function sendProblem(ctx: Context | RouterContext, status: number): void {
  ctx.status = status
  ctx.set('content-type', PROBLEM_JSON)
  ctx.body = problem(status)
}

function sendHealth(ctx: RouterContext, status: number, body: string): void {
  ctx.status = status
  ctx.set('cache-control', 'no-store')
  ctx.set('content-type', HEALTH_JSON)
  ctx.body = body
}
