import type { Middleware } from 'koa'

declare module 'koa' {
  interface DefaultState {
    /** The inbound x-request-id, or the one that `protect` chose. Every response and every log line contains it. */
    requestId: string
  }
}

export const requestId: Middleware = (ctx, next) => {
  ctx.state.requestId = String(ctx.req.headers['x-request-id'])
  ctx.res.setHeader('x-request-id', ctx.state.requestId)
  return next()
}
