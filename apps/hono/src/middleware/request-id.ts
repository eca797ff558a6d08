import { createMiddleware } from 'hono/factory'
import { requestId as chooseId } from '#shared/http/ids.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The inbound x-request-id if that is acceptable, else a new one. Every response and every log line has it. */
    requestId: string
  }
}

const NAME = 'x-request-id'

/** Hono's own `requestId()` has another rule for inbound ids. `securityHeaders` sets the id on a Response that a route makes itself, too. */
export const requestId = createMiddleware(async (c, next) => {
  const id = chooseId(c.req.header(NAME))
  c.set('requestId', id)
  c.header(NAME, id)
  await next()
})
