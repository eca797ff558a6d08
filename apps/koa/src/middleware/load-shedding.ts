import type { Middleware } from 'koa'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import { RETRY_AFTER } from '#shared/http/overload.ts'

declare module 'koa' {
  interface DefaultContext {
    shouldShed?: ReturnType<typeof createLoadShedder>
  }
}

/** For expensive routes: 503 while too many requests wait. npm packages for this refuse all requests or none for a while. */
export const shedLoad: Middleware = async (ctx, next) => {
  const { context } = ctx.app
  context.shouldShed ??= createLoadShedder(context.config.maxQueueWaitMs)
  if (!(await context.shouldShed(ctx.res))) return next()
  ctx.set('retry-after', RETRY_AFTER)
  ctx.status = 503 // not an error: it would be logged as a failure
}
