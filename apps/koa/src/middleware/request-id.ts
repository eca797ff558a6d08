import type { Middleware } from 'koa'
import { requestId } from '#shared/request-id.ts'

declare module 'koa' {
  interface DefaultState {
    requestId: string
  }
}

export const setRequestId: Middleware = (ctx, next) => {
  ctx.state.requestId = requestId(ctx.get('x-request-id'))
  ctx.set('x-request-id', ctx.state.requestId)
  return next()
}
