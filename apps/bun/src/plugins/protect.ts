import type { Health } from '#shared/http/health.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import type { Plugin } from '../plugin.ts'
import { sendProblem } from './errors.ts'

/** What `protect` of shared/http does before every framework on Node: 400 for a malformed target or Host; closing while draining. */
export function protect(health: Health): Plugin {
  return (next) => async (request, server) => {
    const refused = validateRequest(targetOf(request), request.headers.get('host'))
    const response = refused === undefined ? await next(request, server) : sendProblem(refused)
    if (health.draining || refused !== undefined) response?.headers.set('connection', 'close')
    return response
  }
}

/** The request target. Bun's `request.url` starts with the Host, except for HTTP/1.0 without a Host. */
export function targetOf({ url }: Request): string {
  return url.startsWith('/') ? url : url.slice(url.indexOf('/', 'http://'.length))
}
