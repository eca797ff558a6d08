import { defineMiddleware } from 'h3'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { Busy } from '#shared/problem.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad = defineMiddleware(async ({ context, req }, next) => {
  const isTooLate = await waitsTooLong(context.config.MAX_QUEUE_WAIT_MS)
  if (req.signal.aborted) return '' // the client has left
  if (isTooLate) throw new Busy()
  return next()
})
