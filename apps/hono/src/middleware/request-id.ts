import type { Context } from 'hono'
import { requestId as chooseId } from '#shared/http/ids.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
    requestId: string
  }
}

/** Hono's own `requestId()` replaces an inbound id that has a dot. */
export function setRequestId(c: Context): void {
  c.set('requestId', chooseId(c.req.header('x-request-id')))
}
