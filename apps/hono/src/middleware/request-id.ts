import { createMiddleware } from 'hono/factory'
import { requestId as chooseId } from '#shared/http/ids.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
    requestId: string
  }
}

/** Hono's own `requestId()` replaces an inbound id that has a dot. */
export const requestId = createMiddleware((c, next) => {
  c.set('requestId', chooseId(c.req.header('x-request-id')))
  return next()
})
