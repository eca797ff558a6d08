import type { H3EventContext, serve } from 'h3'
import { isClientAbort, type Logger, logFailure, logResponse, logsResponses } from '#shared/process/log.ts'

/** srvx runs it around h3: for h3, a malformed path is an error before the first middleware. */
type ServerMiddleware = NonNullable<NonNullable<Parameters<typeof serve>[1]>['middleware']>[number]

/** One line per response, when it has left. */
export function accessLog(log: Logger): ServerMiddleware {
  const logs = logsResponses(log)

  return (request, next) => {
    const { req, res } = request.runtime?.node ?? {}
    if (req === undefined || res === undefined) return next()
    const startedAt = logs ? performance.now() : 0
    const client = logs ? request.ip : undefined // read now, because a closed connection has no address
    res.prependListener('close', () => {
      const { matchedRoute } = (request.context ?? {}) as Partial<H3EventContext>
      const requestId = String(req.headers['x-request-id'])
      const { errored, statusCode } = res
      if (errored && !isClientAbort(errored)) logFailure(log, requestId, errored)
      if (!logs || matchedRoute?.meta?.isProbe) return
      logResponse(log, {
        requestId,
        method: req.method ?? '',
        url: req.url ?? '',
        route: matchedRoute?.route,
        status: statusCode,
        ms: performance.now() - startedAt,
        client,
        traceparent: req.headers.traceparent as string | undefined,
      })
    })
    return next()
  }
}
