import type { RequestHandler } from 'express'
import { type Logger, logResponse, logsResponses } from '#shared/process/log.ts'

declare global {
  namespace Express {
    interface Request {
      /** Its lines have the id of the request. */
      log: Logger
    }
  }
}

/** One line per response, also after a client abort. pino-http would need more lines of options for the same fields. */
export function accessLog(log: Logger): RequestHandler {
  const logs = logsResponses(log)
  return (request, response, next) => {
    request.log = log.child({ requestId: request.id })
    if (!logs) return next()

    const startedAt = performance.now()
    const { ip: client } = request // read now, because a closed connection has no address
    response.once('close', () => {
      logResponse(request.log, {
        method: request.method,
        url: request.originalUrl,
        route: request.route && request.baseUrl + request.route.path,
        status: response.statusCode,
        ms: performance.now() - startedAt,
        client,
        traceparent: request.headers.traceparent,
      })
    })
    next()
  }
}
