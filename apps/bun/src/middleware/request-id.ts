import { requestId } from '#shared/request-id.ts'
import { secureResponse } from '#shared/security.ts'
import { after, type Middleware } from '../routes.ts'

const NAME = 'x-request-id'

/** Sets the id on the request, for routes and for what they fetch. The response has it as well, and the security headers that it lacks. */
export const setRequestId: Middleware = (next) => (request, server) => {
  const id = requestId(request.headers.get(NAME))
  request.headers.set(NAME, id)
  return after(next(request, server), (response) => response && secureResponse(response, id))
}

/** The id of a request, for a page or a log line. */
export function idOf({ headers }: Request): string {
  return headers.get(NAME) ?? ''
}
