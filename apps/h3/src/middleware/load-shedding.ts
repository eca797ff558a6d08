import { defineMiddleware } from 'h3'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { createProblem, PROBLEM } from '#shared/problem.ts'

/** For expensive routes: 503 after too long a wait. */
export const shedLoad = defineMiddleware(async ({ context, req }, next) => {
  const isTooLate = await waitsTooLong(context.config.MAX_QUEUE_WAIT_MS)
  if (req.signal.aborted) return '' // the client has left
  if (!isTooLate) return next()
  const headers = { 'content-type': PROBLEM, 'retry-after': '1' }
  return Response.json(createProblem(503), { status: 503, headers })
})
