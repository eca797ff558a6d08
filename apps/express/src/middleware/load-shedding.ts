import type { RequestHandler } from 'express'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import { RETRY_AFTER } from '#shared/http/overload.ts'
import { createProblem, PROBLEM_JSON } from '#shared/http/problem.ts'

declare global {
  namespace Express {
    interface Locals {
      shouldShed?: ReturnType<typeof createLoadShedder>
    }
  }
}

/** For expensive routes: 503 while too many requests wait. npm packages for this refuse all requests or none for a while. */
export const shedLoad: RequestHandler = async ({ app: { locals } }, response, next) => {
  locals.shouldShed ??= createLoadShedder(locals.config.maxQueueWaitMs)
  if (!(await locals.shouldShed(response))) return next()
  // Not an error: it would be logged as a failure.
  response.status(503).set('retry-after', RETRY_AFTER).type(PROBLEM_JSON).json(createProblem(503))
}
