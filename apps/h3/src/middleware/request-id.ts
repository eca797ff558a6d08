import { defineMiddleware, type H3Event } from 'h3'
import { requestId } from '#shared/request-id.ts'
import { secureResponse } from '#shared/security.ts'

declare module 'h3' {
  interface H3EventContext {
    requestId: string
    /** That of the response. */
    status?: number
  }
}

/** Sets the id, and the headers of a `Response`, which may have to be replaced for that. */
export const setRequestId = defineMiddleware(async ({ context, req }, next) => {
  context.requestId = requestId(req.headers.get('x-request-id'))
  const value = await next()
  return value instanceof Response ? secureResponse(value, context.requestId) : value
})

/** Sets the headers of all others, and of errors: h3 drops their `event.res.headers`. */
export function onResponse(response: Response, { context, req }: H3Event): void {
  secureResponse(response, context.requestId ?? requestId(req.headers.get('x-request-id')))
  context.status = response.status
}
