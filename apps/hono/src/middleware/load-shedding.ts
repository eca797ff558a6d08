import { createMiddleware } from 'hono/factory'
import type { createLoadShedder } from '#shared/http/load-shedding.ts'
import { RETRY_AFTER } from '#shared/http/overload.ts'
import { createProblem } from '#shared/http/problem.ts'
import { sendProblem } from './errors.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** All routes of an app share one. */
    shouldShed: ReturnType<typeof createLoadShedder>
  }
}

/** A class, because V8 keeps what a getter of an object literal refers to until a full garbage collection: here, the whole request. */
class Client {
  readonly #request: Request

  constructor(request: Request) {
    this.#request = request
  }

  get closed(): boolean {
    return this.#request.signal.aborted
  }
}

/** For expensive routes: 503 while too many requests wait. */
export const shedLoad = createMiddleware(async (c, next) => {
  if (!(await c.get('shouldShed')(new Client(c.req.raw)))) return next()
  c.header('retry-after', RETRY_AFTER)
  return sendProblem(c, createProblem(503)) // not an error: it would be logged as a failure
})
