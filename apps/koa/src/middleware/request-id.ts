import type { Middleware } from 'koa'

declare module 'koa' {
  interface DefaultState {
    /** The inbound x-request-id, or the one that `protect` chose. Every response and every log line contains it. */
    requestId: string
  }
}

export const requestId: Middleware = (ctx, next) => {
  ctx.state.requestId = ctx.get('x-request-id')
  return next()
}
