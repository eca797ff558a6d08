import { waitsTooLong } from '#shared/load-shedding.ts'
import { createProblem, PROBLEM } from '#shared/problem.ts'
import type { Handler } from '../router.ts'

/** For expensive routes: 503 after too long a wait. */
export function shedLoad(handle: Handler): Handler {
  return async (context) => {
    const isTooLate = await waitsTooLong(context.config.MAX_QUEUE_WAIT_MS)
    if (context.response.closed) return // the client has left
    if (!isTooLate) return handle(context)
    // Not an error: it would be logged as a failure.
    context.response.setHeader('retry-after', '1')
    context.send(503, PROBLEM, JSON.stringify(createProblem(503)))
  }
}
