import type { RequestHandler } from 'express'
import type { Logger } from '#shared/log.ts'
import { traceId } from '#shared/request-id.ts'

/** Writes a line for each response, also after a client abort. */
export function accessLog(log: Logger): RequestHandler {
  return (request, response, next) => {
    const since = performance.now()
    const { id: requestId, method, originalUrl, ip: client } = request // a closed connection has no address
    const trace_id = traceId(request.headers.traceparent)
    response.once('close', () => {
      const [path] = originalUrl.split('?', 1)
      const route = request.route?.path // without a mount, whose parameters would have their values
      const ms = performance.now() - since
      const { statusCode: status } = response
      log.info({ requestId, method, path, route, status, ms, client, trace_id }, 'request completed')
    })
    next()
  }
}
