import type { RequestHandler } from 'express'
import createError from 'http-errors'
import { waitsTooLong } from '#shared/load-shedding.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad: RequestHandler = async (request, response, next) => {
  const isTooLate = await waitsTooLong(request.app.locals.config.MAX_QUEUE_WAIT_MS)
  if (response.closed) return // the client has left
  if (isTooLate) throw createError(503, { headers: { 'retry-after': '1' } })
  next()
}
