import { isProbe } from '#shared/http/health.ts'
import { type Logger, logResponse, logsResponses } from '#shared/process/log.ts'
import type { Context } from '../context.ts'

/** One line per response, aborted ones included. Health checks have none. */
export function accessLog(log: Logger): (context: Context) => void {
  if (!logsResponses(log)) return () => {}

  return (context) => {
    const { request, response } = context
    const { method = '', url = '', headers } = request
    if (isProbe(context.path)) return
    const startedAt = performance.now()
    const { client } = context // read now, because a closed connection has no address
    response.prependListener('close', () => {
      logResponse(log, {
        requestId: context.requestId,
        method,
        url,
        route: context.route,
        status: response.statusCode,
        ms: performance.now() - startedAt,
        client,
        traceparent: headers.traceparent,
      })
    })
  }
}
