import type { Middleware } from 'koa'

declare module 'koa' {
  interface DefaultState {
    /** The inbound x-request-id, or the one that `protect` chose. Every response and every log line contains it. */
    requestId: string
  }
}

export const requestId: Middleware = async (ctx, next) => {
  ctx.state.requestId = ctx.get('x-request-id')
  ctx.set('x-request-id', ctx.state.requestId) // for a response that begins before the route ends
  await next()
  if (!ctx.headerSent) ctx.set('x-request-id', ctx.state.requestId) // whatever the route or a fetched response says
}
