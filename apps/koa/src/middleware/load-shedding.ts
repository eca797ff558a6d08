import type { Middleware } from 'koa'
import { waitsTooLong } from '#shared/load-shedding.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad: Middleware = async (ctx, next) => {
  const isTooLate = await waitsTooLong(ctx.config.MAX_QUEUE_WAIT_MS)
  if (ctx.res.closed) return // the client has left
  if (!isTooLate) return next()
  ctx.status = 503 // not an error: it would be logged as a failure
  ctx.set('retry-after', '1')
}
