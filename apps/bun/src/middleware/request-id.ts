import { requestId } from '#shared/request-id.ts'
import type { Middleware } from '../routes.ts'

const NAME = 'x-request-id'

/** Sets the id on the request, for routes and for what they fetch, and on the response. */
export const setRequestId: Middleware = (next) => async (request, server) => {
  const id = requestId(request.headers.get(NAME))
  request.headers.set(NAME, id)
  const response = await next(request, server)
  response?.headers.set(NAME, id)
  return response
}

/** The id of a request, for a page or a log line. */
export function idOf({ headers }: Request): string {
  return headers.get(NAME) ?? ''
}
