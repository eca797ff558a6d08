import { LogController } from 'fastify'
import fp from 'fastify-plugin'
import { isClientAbort, type Logger, logResponse, logsResponses } from '#shared/process/log.ts'

/**
 * One line per response. Fastify's own lines are two per request, have other fields, and the last one is missing when the client leaves
 * early: `onResponse` runs only after a complete response. Routes with `logLevel: 'silent'` have no line.
 */
export default fp(async (app) => {
  if (!logsResponses(app.log as Logger)) return

  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now()
    const { ip: client } = request // read now, because a closed connection has no address
    reply.raw.once('close', () => {
      logResponse(request.log, {
        method: request.method,
        url: request.url,
        route: request.routeOptions.url,
        status: reply.raw.statusCode,
        ms: performance.now() - startedAt,
        client,
        traceparent: request.headers.traceparent,
      })
    })
    done()
  })
})

/** Leaves out what the access log has, and logs a stream that failed after the headers were sent as a failure. */
export class FailureLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(): void {}

  override streamError(...[error, request]: Parameters<LogController['streamError']>): void {
    if (!isClientAbort(error)) request.log.error({ err: error }, 'failed')
  }
}
