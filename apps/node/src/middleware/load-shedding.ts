import { waitsTooLong } from '#shared/load-shedding.ts'
import { Busy } from '#shared/problem.ts'
import type { Handler } from '../router.ts'

/** For expensive routes: 503 after too long a wait. */
export function shedLoad(handle: Handler): Handler {
  return async (context) => {
    const isTooLate = await waitsTooLong(context.config.MAX_QUEUE_WAIT_MS)
    if (context.response.closed) return // the client has left
    if (isTooLate) throw new Busy()
    return handle(context)
  }
}
