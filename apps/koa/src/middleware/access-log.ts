import type { Middleware } from 'koa'
import type { Logger } from '#shared/log.ts'
import { traceId } from '#shared/request-id.ts'

/** Writes a line for each response, also after a client abort. */
export function accessLog(log: Logger): Middleware {
  return (ctx, next) => {
    const since = performance.now()
    const { method, path, ip: client } = ctx // a closed connection has no address
    const { requestId } = ctx.state
    const trace_id = traceId(ctx.get('traceparent'))
    ctx.res.once('close', () => {
      const { routerPath: route, status } = ctx
      const ms = performance.now() - since
      log.info({ requestId, method, path, route, status, ms, client, trace_id }, 'request completed')
    })
    return next()
  }
}
