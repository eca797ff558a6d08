import { createMiddleware } from 'hono/factory'
import { createLoadShedder, RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { HttpProblem } from '#shared/http/problem.ts'

declare module 'hono' {
  interface ContextVariableMap {
    shouldShed: ReturnType<typeof createLoadShedder>
  }
}

/** Creates the load shedder for `shedLoad`. All routes of an app share one. */
export function loadShedding(maxQueueWaitMs: number) {
  const shouldShed = createLoadShedder(maxQueueWaitMs)

  return createMiddleware((c, next) => {
    c.set('shouldShed', shouldShed)
    return next()
  })
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
