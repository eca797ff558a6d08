import type { FastifyReply, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { createProblem, errorStatus, type FieldError, HttpProblem } from '#shared/http/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export default fp(async (app) => {
  app.setErrorHandler<Error & { validation?: FastifySchemaValidationError[] }>((error, request, reply) => {
    const status = errorStatus(error)
    // An HttpProblem is a decision, not a failure.
    if (status >= 500 && !(error instanceof HttpProblem)) request.log.error({ err: error }, 'failed')
    if (reply.raw.headersSent) {
      // The client can only learn from a closed connection that the response is incomplete.
      reply.hijack().raw.destroy()
      return reply
    }
    return sendProblem(reply, status, error.validation?.map(toFieldError))
  })

  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404))
})

function sendProblem(reply: FastifyReply, status: number, errors?: FieldError[]): FastifyReply {
  return reply.code(status).type(PROBLEM_JSON).send(createProblem(status, errors))
}

function toFieldError({ instancePath, message, params }: FastifySchemaValidationError): FieldError {
  const { missingProperty } = params
  const path = instancePath.split('/').slice(1)
  if (typeof missingProperty === 'string') path.push(missingProperty)
  return { field: path.join('.'), reason: message ?? 'is not valid' }
}
