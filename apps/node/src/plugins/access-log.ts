import { clientAddress } from '#shared/http/client-address.ts'
import { isProbe } from '#shared/http/health.ts'
import type { Config } from '#shared/process/config.ts'
import { type Logger, logResponse, logsResponses } from '#shared/process/log.ts'
import type { Context } from '../context.ts'

/** One line per response, aborted ones included. Health checks have none. */
export function accessLog(log: Logger, trustsProxy: Config['trustProxy']): (context: Context) => void {
  if (!logsResponses(log)) return () => {}

  return (context) => {
    const { request, response } = context
    const { method = '', url = '', socket, headers } = request
    if (isProbe(context.path)) return
    const startedAt = performance.now()
    // Read now, because a closed connection has no address.
    const client = clientAddress(socket.remoteAddress, headers['x-forwarded-for'], trustsProxy)
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
