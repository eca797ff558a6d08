import type { RequestHandler } from 'express'
import { type createLoadShedder, RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { HttpProblem } from '#shared/http/problem.ts'

declare global {
  namespace Express {
    /** Of `app.locals`. */
    interface Locals {
      shouldShed: ReturnType<typeof createLoadShedder>
    }
  }
}

/** For routes that cost much: 503 while too many requests wait. Packages for this refuse everything or nothing for a while. */
export const shedLoad: RequestHandler = async (request, response, next) => {
  if (!(await request.app.locals.shouldShed(response))) return next()
  response.set('retry-after', RETRY_AFTER)
  throw new HttpProblem(503)
}
