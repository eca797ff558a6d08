import type { RequestHandler } from 'express'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { createProblem, PROBLEM } from '#shared/problem.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad: RequestHandler = async (_request, response, next) => {
  const isTooLate = await waitsTooLong(response.locals.config.MAX_QUEUE_WAIT_MS)
  if (response.closed) return // the client has left
  if (!isTooLate) return next()
  // Not an error: it would be logged as a failure.
  response.status(503).set('retry-after', '1').type(PROBLEM).json(createProblem(503))
}
