import { validateRequest } from '#shared/http/validate-request.ts'
import { sendProblem } from './errors.ts'

/** The last Host that a URL may have, because most requests have the same. */
let known: string | null = null

/**
 * What `protect` of shared/http does before every framework on Node: 400 for a malformed target or Host. It also refuses a Host that no URL
 * may have, such as `a:99999`: `request.url` contains it, so `new URL(request.url)` would throw in a route.
 */
export function refuseMalformed(request: Request): Response | undefined {
  const host = request.headers.get('host')
  const status = validateRequest(targetOf(request), host)
  if (status === undefined && (host === known || URL.canParse(request.url, 'http://localhost'))) {
    known = host
    return undefined
  }
  return sendProblem(status ?? 400, { headers: { connection: 'close' } })
}

/** The request target. Bun's `request.url` starts with the Host, except for HTTP/1.0 without a Host. */
export function targetOf({ url }: Request): string {
  return url.startsWith('/') ? url : url.slice(url.indexOf('/', 'http://'.length))
}
