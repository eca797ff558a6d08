import { createTurnLoadShedder } from '#shared/http/load-shedding-by-turn.ts'
import { RETRY_AFTER } from '#shared/http/overload.ts'
import type { Handler } from '../handler.ts'
import { sendProblem } from './errors.ts'

/** Wraps expensive routes: 503 if a request has waited too long. All routes of an app share one load shedder. */
export function loadShedding(maxQueueWaitMs: number): (next: Handler) => Handler {
  const shouldShed = createTurnLoadShedder(maxQueueWaitMs)

  return (next) => (request, server) =>
    shouldShed() ? sendProblem(503, { headers: { 'retry-after': RETRY_AFTER } }) : next(request, server)
}
