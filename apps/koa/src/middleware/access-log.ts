import type { Middleware } from 'koa'
import { traceId } from '#shared/request-id.ts'

/** Gives `ctx.log` the id of the request, and writes a line for each response, also after a client abort. */
export const accessLog: Middleware = (ctx, next) => {
  const since = performance.now()
  const { method, path, ip: client } = ctx // a closed connection has no address
  const trace_id = traceId(ctx.get('traceparent'))
  ctx.log = ctx.log.child({ requestId: ctx.state.requestId })
  ctx.res.once('close', () => {
    const { _matchedRoute: route, status } = ctx
    const ms = performance.now() - since
    ctx.log.info({ method, path, route, status, ms, client, trace_id }, 'request completed')
  })
  return next()
}
