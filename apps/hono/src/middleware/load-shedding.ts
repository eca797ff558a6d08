import { createMiddleware } from 'hono/factory'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { Busy } from '#shared/problem.ts'
import type { Env } from '../forwarded.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad = createMiddleware<Env>(async (c, next) => {
  const isTooLate = await waitsTooLong(c.get('config').MAX_QUEUE_WAIT_MS)
  if (c.env.outgoing?.closed ?? c.req.raw.signal.aborted) return c.body(null) // the client has left
  if (isTooLate) throw new Busy()
  return next()
})
