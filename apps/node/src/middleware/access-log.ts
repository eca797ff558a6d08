import { traceId } from '#shared/request-id.ts'
import type { Context } from '../context.ts'

/** Writes a line for each response, also after a client abort. Probes have none. */
export function accessLog(context: Context): void {
  const { request, response, path, log } = context
  if (path === '/livez' || path === '/readyz') return
  const since = performance.now()
  response.once('close', () => {
    const { method, headers } = request
    const { client } = context.forwarded
    const ms = performance.now() - since
    const fields = { method, path, route: context.route, status: response.statusCode, ms, client }
    log.info({ ...fields, trace_id: traceId(headers.traceparent) }, 'request completed')
  })
}
