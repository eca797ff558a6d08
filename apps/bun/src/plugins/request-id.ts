import { requestId as chooseId } from '#shared/http/ids.ts'
import type { Plugin } from '../plugin.ts'

const NAME = 'x-request-id'

/** Sets the id on the request, for routes and log lines, and on the response. It is the inbound x-request-id if that is valid. */
export const requestId: Plugin = (next) => async (request, server) => {
  const id = chooseId(request.headers.get(NAME))
  request.headers.set(NAME, id)
  const response = await next(request, server)
  response?.headers.set(NAME, id)
  return response
}

/** The id that the plugin set. */
export function idOf({ headers }: Request): string {
  return headers.get(NAME) ?? ''
}
