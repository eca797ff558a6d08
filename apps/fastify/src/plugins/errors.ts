import sensible from '@fastify/sensible'
import type { FastifyError, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { describeError, type FieldError, PROBLEM_JSON } from '#shared/http/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export default fp(async (app) => {
  await app.register(sensible)

  app.setErrorHandler<FastifyError & { expose?: boolean }>((error, request, reply) => {
    const { status, headers, problem } = describeError(error, {
      status: reply.statusCode >= 400 ? reply.statusCode : undefined, // of `reply.code(409).send(error)`
      isPublic: error.expose !== false, // Fastify's own handler sends every message
      errors: error.validation?.map(toFieldError),
    })
    if (status >= 500) request.log.error({ err: error }, 'failed')
    if (reply.raw.headersSent) {
      // The client can only learn from a closed connection that the response is incomplete.
      reply.hijack().raw.destroy()
      return reply
    }
    return reply.code(status).headers(headers).type(PROBLEM_JSON).send(problem)
  })

  app.setNotFoundHandler((_request, reply) => reply.notFound())
})

function toFieldError({ instancePath, message, params }: FastifySchemaValidationError): FieldError {
  const { missingProperty } = params
  const path = instancePath.split('/').slice(1)
  if (typeof missingProperty === 'string') path.push(missingProperty)
  return { field: path.join('.'), reason: message ?? 'is not valid' }
}
