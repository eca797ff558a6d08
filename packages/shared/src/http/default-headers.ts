import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { SECURITY_HEADERS } from './security-headers.ts'

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[]

const DEFAULTS = Object.entries(SECURITY_HEADERS)

/**
 * Gives a response the security headers and the id of its request when its head is written, however a handler does that (as the package
 * on-headers does). A header that the handler sets itself stays. Node checks and copies each header that `setHeader` gets, and then all of
 * them once more; those that only `writeHead` gets are written at once.
 * @param response its request must have a valid `x-request-id`, as `protect` sets it
 */
export function addDefaultHeaders(response: ServerResponse): void {
  response.writeHead = writeHead as ServerResponse['writeHead']
}

function writeHead(
  this: ServerResponse,
  status: number,
  second?: string | Head,
  third?: Head,
): ServerResponse {
  const given = typeof second === 'string' ? third : second
  const id = this.req.headers['x-request-id'] ?? ''
  const hasOthers = Array.isArray(given) || this.getHeaderNames().length > 0
  const headers = hasOthers ? given : merge(given, id)
  if (hasOthers) {
    for (const [name, value] of DEFAULTS) if (!this.hasHeader(name)) this.setHeader(name, value)
    this.setHeader('x-request-id', id)
  }
  if (typeof second === 'string')
    return (ServerResponse.prototype.writeHead as WithMessage).call(this, status, second, headers)
  return ServerResponse.prototype.writeHead.call(this, status, headers)
}

type WithMessage = (this: ServerResponse, status: number, message: string, headers?: Head) => ServerResponse

/** Names are compared without case, or a header would be sent twice. */
function merge(given: OutgoingHttpHeaders = {}, id: string | string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...SECURITY_HEADERS }
  for (const name in given) headers[name.toLowerCase()] = given[name]
  headers['x-request-id'] = id
  return headers
}
