import { Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import type { Logger } from '#shared/log.ts'
import {
  BODY_HEADERS,
  createProblem,
  isClientAbort,
  PROBLEM,
  type Problem,
  toProblem,
} from '#shared/problem.ts'

/** Errors are problem details (RFC 9457), also those without a body, such as Koa's 404 and the router's 405. */
export const errors: Middleware = async (ctx, next) => {
  try {
    if (!ctx.url.startsWith('/') && !URL.canParse(ctx.url)) ctx.throw(400) // `ctx.path` would throw
    await next()
    if (ctx.status >= 400 && ctx.body === undefined && ctx.respond !== false) {
      ctx.set('cache-control', 'no-store')
      send(ctx, ctx.status, createProblem(ctx.status))
    }
  } catch (thrown) {
    const error = thrown ?? new Error('A handler rejected without a reason.')
    if (ctx.headerSent) throw error
    ctx.app.emit('error', error, ctx)
    const { status, headers, problem } = toProblem(error)
    for (const name of BODY_HEADERS) ctx.remove(name)
    ctx.set(headers)
    send(ctx, status, problem)
  }
}

/** Koa emits `error` also for a stream that fails, then twice. A route may emit it without a context. The cause of a failure is in the log only. */
export function onError(log: Logger) {
  return (error: unknown, ctx?: Context): void => {
    if (ctx?.res.closed && ctx.body instanceof Readable) ctx.body.destroy() // `pipeline` leaves it open
    const failure = ctx?.state.failure
    if (failure && (failure === error || ctx?.res.errored)) return
    if (ctx) ctx.state.failure = error
    // If the socket fails, Koa emits its error. A body that fails destroys the response with its own.
    const isReset = ctx && error === ctx.req.socket.errored && error !== ctx.res.errored
    const isAborted = isReset || (ctx && isClientAbort(error, ctx.res))
    const { level } = toProblem(error)
    if (level && !isAborted) (ctx?.log ?? log)[level]({ err: error }, 'failed')
    // The client can only learn from a closed connection that its response is incomplete.
    if (ctx?.headerSent) ctx.res.destroy()
  }
}

function send(ctx: Context, status: number, problem: Problem): void {
  ctx.status = status // a body alone would make it 200
  ctx.body = problem
  ctx.type = PROBLEM
}
