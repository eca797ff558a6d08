import { createMiddleware } from 'hono/factory'
import { RETRY_AFTER } from '#shared/http/contract.ts'
import type { createLoadShedder } from '#shared/http/load-shedding.ts'
import { HttpProblem } from '#shared/http/problem.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** All routes of an app share one. */
    shouldShed: ReturnType<typeof createLoadShedder>
  }
}

/** For expensive routes: 503 while too many requests wait. */
export const shedLoad = createMiddleware(async (c, next) => {
  const response = {
    get closed() {
      return c.req.raw.signal.aborted
    },
  }
  if (await c.get('shouldShed')(response)) {
    c.header('retry-after', RETRY_AFTER)
    throw new HttpProblem(503)
  }
  await next()
})
