import type { RequestHandler } from 'express'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { Busy } from '#shared/problem.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad: RequestHandler = async (_request, response, next) => {
  const isTooLate = await waitsTooLong(response.locals.config.MAX_QUEUE_WAIT_MS)
  if (response.closed) return // the client has left
  if (isTooLate) throw new Busy()
  next()
}
