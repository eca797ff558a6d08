import { ServerResponse } from 'node:http'
import fastifyExpress from '@fastify/express'
import { livez, readyz } from '@startgrid/express/middleware/health.ts'
import { type RequestHandler, Router } from 'express'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { isProbe } from '#shared/http/health.ts'
import { HttpProblem } from '#shared/http/http-problem.ts'
import { describeError, type ErrorResponse, PROBLEM_JSON } from '#shared/http/problem.ts'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import { drain } from '#shared/process/drain.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { isClientAbort, type Logger, logResponse, logsResponses } from '#shared/process/log.ts'

export type App = FastifyInstance

declare global {
  namespace Express {
    interface Request {
      /** Fastify's; @fastify/express puts both there. */
      id: string
      log: Logger
    }
  }
}

const HEADERS = new Map(Object.entries(SECURITY_HEADERS))

/** Fastify around the routes of a role of `apps/express`. */
export async function createApp({ config, health, log }: AppOptions, routes: Router): Promise<App> {
  const app: App = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }), // its lines have other fields
    http: SERVER_OPTIONS,
    bodyLimit: BODY_LIMIT,
    trustProxy: config.trustProxy,
    return503OnClosing: false, // requests that arrive while draining are served
    requestIdHeader: 'x-request-id',
    frameworkErrors: (error, request, reply) => {
      begin(request, reply) // no hook runs for these
      sendProblem(reply, describeError(error))
    },
  })
  app.server.keepAliveTimeout = SERVER_OPTIONS.keepAliveTimeout // the option of this name takes 0 for its default
  protect(app.server, { config, log })

  const logs = logsResponses(log)
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    // The plugin decodes the target, and Express would decode it again: %2565 would become e, and a query of %zz would be a 500.
    request.raw.url = request.originalUrl.replaceAll('%', '%25')
    done()
  })
  app.addHook('preClose', () => drain(app.server))

  app.setErrorHandler((error, request, reply) => {
    const described = describeError(error)
    const isGone = reply.raw.destroyed && isClientAbort(error)
    if (described.status >= 500 && !isGone) request.log.error({ err: error }, 'failed')
    if (!hasSentHeaders(reply.raw)) return sendProblem(reply, described)
    // The headers have been sent, so only a closed connection can tell the client that the response is incomplete.
    reply.hijack().raw.destroy()
    return reply
  })

  await app.register(fastifyExpress)
  Object.assign(app.express.locals, { config, health })
  app.use(handOver) // one by one: the plugin's `use` takes two arguments at most
  app.use(Router({ caseSensitive: true, strict: true }).get('/livez', livez).get('/readyz', readyz))
  app.use(routes)
  // Express has passed it on. Respond with 404 here, before the body is parsed: an unknown path is unknown with any body.
  app.addHook('onRequest', (request, _reply, done) => done(request.is404 ? new HttpProblem(404) : undefined))
  return app

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    // Not on the reply: its headers would replace those of Express, and a page would get the policy of a text.
    reply.raw.setHeaders(HEADERS).setHeader('x-request-id', request.id)
    if (logs && !isProbe(request.originalUrl)) logWhenClosed(log, request, reply)
  }
}

/** The steps between the two that @fastify/express does not do. */
const handOver: RequestHandler = (request, _response, next) => {
  request.originalUrl = request.url
  next()
}

/** Node's own `headersSent`. That of the plugin is false if Express has written without `send`, as for streams and files. */
function hasSentHeaders(response: ServerResponse): boolean {
  return Reflect.get(ServerResponse.prototype, 'headersSent', response)
}

/** Sends bytes, because Fastify would add a charset to the type of a string, and JSON has none (RFC 8259 section 11). */
function sendProblem(reply: FastifyReply, { status, headers, problem }: ErrorResponse): FastifyReply {
  reply.raw.removeHeader('content-encoding') // of express-static-gzip, for the file that it did not send
  return reply
    .code(status)
    .headers(headers)
    .header('content-type', PROBLEM_JSON)
    .send(Buffer.from(JSON.stringify(problem)))
}

function logWhenClosed(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now()
  // Read now, because a closed connection has no address.
  const { id, method, originalUrl: url, ip: client } = request
  reply.raw.once('close', () => {
    const { statusCode: status } = reply.raw
    logResponse(log, { requestId: id, method, url, status, ms: performance.now() - startedAt, client })
  })
}
