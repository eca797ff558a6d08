import type { Middleware } from 'koa'
import { requestId as chooseId } from '#shared/http/ids.ts'

declare module 'koa' {
  interface DefaultState {
    /** The inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
    requestId: string
  }
}

export const requestId: Middleware = (ctx, next) => {
  ctx.state.requestId = chooseId(ctx.req.headers['x-request-id'])
  ctx.res.setHeader('x-request-id', ctx.state.requestId)
  return next()
}
