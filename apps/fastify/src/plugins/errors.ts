import type { OutgoingHttpHeaders } from 'node:http'
import {
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaValidationError,
  LogController,
} from 'fastify'
import fp from 'fastify-plugin'
import { BODY_HEADERS, type FieldError, isClientAbort, PROBLEM, toProblem } from '#shared/problem.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Its hooks `onSend` run, or have run. */
    isSending: boolean
  }
}

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export default fp(
  async (app) => {
    app.decorateReply('isSending', false)
    app.addHook('onSend', (_request, reply, _payload, done) => {
      reply.isSending = true
      done()
    })
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const known = reply.isSending ? {} : knownOf(Object(error), reply) // anything may be thrown
      const { status, headers, problem, level } = toProblem(error, known)
      if (error?.validation) problem.errors = error.validation.map(toFieldError)
      if (level && !isClientAbort(error, reply.raw)) request.log[level]({ err: error }, 'failed')
      for (const name of BODY_HEADERS) reply.removeHeader(name)
      reply.code(status).headers(headers).type(PROBLEM)
      if (!reply.isSending && !reply.raw.headersSent) return reply.send(problem)
      const body = JSON.stringify(problem)
      const response = reply.header('content-length', Buffer.byteLength(body)).hijack().raw
      // The client can only learn from a closed connection that its response is incomplete.
      if (response.headersSent) response.destroy()
      // Past the hooks `onSend`: one has failed, or they have run for the body that has failed.
      else response.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders).end(body)
      return reply
    })
  },
  { name: 'errors', dependencies: ['@fastify/sensible'] },
)

/** What the error does not say itself. */
function knownOf(error: FastifyError & { status?: number; expose?: boolean }, reply: FastifyReply) {
  if (error.validation) return { status: 400, expose: false }
  // `reply.code(409)` before the error, not the 503 of a silent handler, whose response is closed.
  // While something traces requests, Fastify has already set the status to the error's own.
  const { statusCode: status, raw } = reply
  if (status >= 400 && !raw.closed && ![error.statusCode, error.status].includes(status))
    return { status, expose: true }
  // @fastify/rate-limit and @fastify/basic-auth give the reply its header, and then throw a plain error.
  const header = { 401: 'www-authenticate', 429: 'retry-after' }[error.statusCode ?? 0]
  const isOwn = error.name === 'FastifyError' || (header && reply.hasHeader(header)) // FST_ERR_…, and those of @fastify/error
  return isOwn && error.expose === undefined ? { expose: true } : {}
}

/** Fastify's own lines have other fields: see access-log.ts. What fails amid its response is logged as any other failure. */
export class Log extends LogController {
  override streamError(err: Error, request: FastifyRequest, reply: FastifyReply): void {
    if (!isClientAbort(err, reply.raw)) request.log.error({ err }, 'failed')
  }
}

function toFieldError({
  instancePath,
  message = 'is not valid',
  params,
}: FastifySchemaValidationError): FieldError {
  const path = [...instancePath.split('/').slice(1), params.missingProperty ?? []].flat()
  return { field: path.join('.'), reason: message }
}
