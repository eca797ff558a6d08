import { Readable } from 'node:stream'
import type { FastifyError, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { BODY_HEADERS, createProblem, type FieldError, PROBLEM, toProblem } from '#shared/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export default fp(async (app) => {
  app.setErrorHandler((thrown: unknown, request, reply) => {
    const error: FastifyError & { expose?: boolean; status?: number } = Object(thrown) // anything may be thrown
    if (error.validation) {
      const problem = createProblem(400, { errors: error.validation.map(toFieldError) })
      return reply.code(400).header('cache-control', 'no-store').type(PROBLEM).send(problem)
    }
    if (error.name === 'FastifyError') error.expose ??= true // FST_ERR_…, and those of @fastify/error
    // @fastify/rate-limit and @fastify/basic-auth give the reply its header, and then throw a plain error.
    const header = { 401: 'www-authenticate', 429: 'retry-after' }[error.statusCode ?? 0]
    if (header && reply.hasHeader(header)) error.expose ??= true
    // `reply.code(409)` before the error. While something traces requests, Fastify has already set the status to the error's own.
    if (reply.statusCode >= 400 && ![error.statusCode, error.status].includes(reply.statusCode))
      Object.assign(error, { status: reply.statusCode, expose: true })
    const { status, headers, problem } = toProblem(error)
    const isAborted = // by the client
      (error.code === 'ECONNRESET' && request.raw.readableAborted) ||
      (error.name === 'AbortError' && reply.raw.closed)
    if (status >= 500 && !isAborted) request.log.error({ err: thrown }, 'failed')
    for (const name of BODY_HEADERS) reply.removeHeader(name)
    if (!reply.raw.headersSent) return reply.code(status).headers(headers).type(PROBLEM).send(problem)
    // The client can only learn from a closed connection that its response is incomplete.
    reply.hijack().raw.destroy()
    return reply
  })

  // Fastify destroys a response whose stream fails amid it. A failure before its first byte comes to the handler above.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload instanceof Response) {
      reply.code(payload.status) // what Fastify would take from it after this hook
      for (const [name, value] of payload.headers) reply.header(name, value)
    }
    const body = payload instanceof Response ? payload.body : payload
    const stream = body instanceof ReadableStream ? Readable.fromWeb(body) : body
    if (stream instanceof Readable)
      stream.once('error', (err) => {
        if (reply.raw.headersSent && !reply.raw.destroyed) request.log.error({ err }, 'failed')
      })
    done(null, stream)
  })

  app.setNotFoundHandler((_request, reply) => reply.notFound())
})

function toFieldError({
  instancePath,
  message = 'is not valid',
  params,
}: FastifySchemaValidationError): FieldError {
  const path = [...instancePath.split('/').slice(1), params.missingProperty ?? []].flat()
  return { field: path.join('.'), reason: message }
}
