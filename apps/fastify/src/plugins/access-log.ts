import { LogController } from 'fastify'
import fp from 'fastify-plugin'
import { isClientAbort, type Logger, logResponse, logsResponses } from '#shared/process/log.ts'

/**
 * One line per response. Fastify itself writes two lines per request with other fields. The second is missing after a client abort,
 * because `onResponse` runs only after a complete response. Routes with `logLevel: 'silent'` are not logged.
 */
export default fp(async (app) => {
  if (!logsResponses(app.log as Logger)) return

  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.logLevel === 'silent') return done()
    const { ip: client } = request // read now, because a closed connection has no address
    reply.raw.prependListener('close', () => {
      logResponse(request.log, {
        method: request.method,
        url: request.url,
        route: request.routeOptions.url,
        status: reply.raw.statusCode,
        ms: reply.elapsedTime,
        client,
        traceparent: request.headers.traceparent,
      })
    })
    done()
  })
})

/** Turns off the lines that the access log replaces. Logs a stream that fails after the headers were sent as a failure. */
export class FailureLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(): void {}

  override streamError(...[error, request]: Parameters<LogController['streamError']>): void {
    if (!isClientAbort(error)) request.log.error({ err: error }, 'failed')
  }
}
