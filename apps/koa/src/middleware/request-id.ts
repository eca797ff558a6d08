import type { Middleware } from 'koa'
import { requestId as chooseId } from '#shared/http/ids.ts'

declare module 'koa' {
  interface DefaultState {
    /** The inbound x-request-id if that is acceptable, else a new one. Every response and every log line has it. */
    requestId: string
  }
}

export const requestId: Middleware = (ctx, next) => {
  ctx.state.requestId = chooseId(ctx.req.headers['x-request-id'])
  ctx.set('x-request-id', ctx.state.requestId)
  return next()
}
