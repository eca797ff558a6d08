import type { AppOptions } from '#shared/app-options.ts'
import { traceId } from '#shared/request-id.ts'
import { forwardedOf } from '../forwarded.ts'
import { after, type Middleware } from '../routes.ts'
import { idOf } from './request-id.ts'

/** Writes a line for each response. Bun does not tell when it was sent: `ms` ends when Bun gets it. */
export function accessLog({ config, log }: Pick<AppOptions, 'config' | 'log'>): Middleware {
  return (next, route) => (request, server) => {
    const since = performance.now()
    const { client } = forwardedOf(request, server, config) // a closed connection has no address
    return after(next(request, server), (response) => {
      const { method, url, headers } = request
      const [path] = url.replace(/^http:\/\/[^/]*/, '').split('?', 1)
      const status = response?.status ?? 101 // a WebSocket
      const ms = performance.now() - since
      const trace_id = traceId(headers.get('traceparent'))
      const fields = { requestId: idOf(request), method, path, route, status, ms, client, trace_id }
      log.info(fields, 'request completed')
      return response
    })
  }
}
