import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { SECURITY_HEADERS } from './security-headers.ts'

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[]

const DEFAULTS = Object.entries(SECURITY_HEADERS)

/**
 * Gives a response the security headers and the id of its request when its head is written, however a handler does that (as the package
 * on-headers does). A header that the handler sets itself stays, except for the id. Node checks a header that `setHeader` gets twice, and
 * one that only `writeHead` gets once.
 * @param response its request must have a valid `x-request-id`, as `protect` sets it
 */
export function addDefaultHeaders(response: ServerResponse): void {
  const writeHead = response.writeHead as WriteHead
  // Packages such as on-headers replace it, too: what they made of it is called then.
  const own = writeHead === ORIGINAL ? writeHeadWithDefaults : addTo(writeHead)
  response.writeHead = own as ServerResponse['writeHead']
}

type WriteHead = (
  this: ServerResponse,
  status: number,
  second?: string | Head,
  third?: Head,
) => ServerResponse

function addTo(next: WriteHead): WriteHead {
  return function writeHead(status, second, third) {
    const given = typeof second === 'string' ? third : second
    const id = this.req.headers['x-request-id'] ?? ''
    const hasOthers = Array.isArray(given) || this.getHeaderNames().length > 0
    const headers = hasOthers ? withoutId(given) : merge(given, id)
    if (hasOthers) {
      for (const [name, value] of DEFAULTS) if (!this.hasHeader(name)) this.setHeader(name, value)
      this.setHeader('x-request-id', id)
    }
    return typeof second === 'string'
      ? next.call(this, status, second, headers)
      : next.call(this, status, headers)
  }
}

const ORIGINAL = ServerResponse.prototype.writeHead as WriteHead
const writeHeadWithDefaults = addTo(ORIGINAL)

function withoutId(given?: Head): Head | undefined {
  const isId = (name: unknown) => String(name).toLowerCase() === 'x-request-id'
  if (Array.isArray(given)) return given.filter((_, index) => !isId(given[index - (index % 2)]))
  return given && Object.fromEntries(Object.entries(given).filter(([name]) => !isId(name)))
}

/** Names are compared without case, or a header would be sent twice. */
function merge(given: OutgoingHttpHeaders = {}, id: string | string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...SECURITY_HEADERS }
  for (const name in given) headers[name.toLowerCase()] = given[name]
  headers['x-request-id'] = id
  return headers
}
