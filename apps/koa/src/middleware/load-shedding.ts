import type { Middleware } from 'koa'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { Busy } from '#shared/problem.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad: Middleware = async (ctx, next) => {
  const isTooLate = await waitsTooLong(ctx.config.MAX_QUEUE_WAIT_MS)
  if (ctx.res.closed) return // the client has left
  if (isTooLate) throw new Busy()
  return next()
}
