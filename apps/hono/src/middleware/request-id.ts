import type { HttpBindings } from '@hono/node-server'
import { createMiddleware } from 'hono/factory'
import { requestId } from '#shared/request-id.ts'

declare module 'hono' {
  interface ContextVariableMap {
    requestId: string
  }
}

/** On Node's response, as the security headers. Hono's own `requestId()` also keeps ids with `=`. */
export const setRequestId = createMiddleware<{ Bindings: Partial<HttpBindings> }>(async (c, next) => {
  c.set('requestId', requestId(c.req.header('x-request-id')))
  c.env.outgoing?.setHeader('x-request-id', c.get('requestId'))
  await next()
})
