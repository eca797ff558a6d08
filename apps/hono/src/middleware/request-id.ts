import { createMiddleware } from 'hono/factory'
import { requestId } from '#shared/request-id.ts'
import { secureResponse } from '#shared/security.ts'

declare module 'hono' {
  interface ContextVariableMap {
    requestId: string
  }
}

/** Sets the id, and afterwards the headers of every response. Hono's own `requestId()` also keeps ids with `=`. */
export const setRequestId = createMiddleware(async (c, next) => {
  const id = requestId(c.req.header('x-request-id'))
  c.set('requestId', id)
  await next()
  const secured = secureResponse(c.res, id)
  if (secured === c.res) return
  c.res = undefined // otherwise its headers would replace those of the copy
  c.res = secured
})
