import { createMiddleware } from 'hono/factory'
import { requestId as chooseId } from '#shared/http/ids.ts'
import type { Runtime } from './access-log.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
    requestId: string
  }
}

const NAME = 'x-request-id'

/** Hono's own `requestId()` has another rule for inbound ids. For a Response that a route creates, `securityHeaders` sets the id. */
export function requestId({ addHeaders }: Runtime) {
  return createMiddleware((c, next) => {
    const id = chooseId(c.req.header(NAME))
    c.set('requestId', id)
    if (addHeaders === undefined) c.header(NAME, id)
    return next()
  })
}
