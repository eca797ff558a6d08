import type { Logger } from '#shared/log.ts'
import { traceId } from '#shared/request-id.ts'
import type { Context } from '../context.ts'

/** Writes a line for each response, also after a client abort. Probes have none. */
export function accessLog(context: Context, log: Logger): void {
  const { request, response, path, requestId } = context
  if (path === '/livez' || path === '/readyz') return
  const since = performance.now()
  response.once('close', () => {
    const { method, headers } = request
    const { client } = context.forwarded
    const ms = performance.now() - since
    const { route } = context
    const { statusCode: status } = response
    const trace_id = traceId(headers.traceparent)
    log.info({ requestId, method, path, route, status, ms, client, trace_id }, 'request completed')
  })
}
