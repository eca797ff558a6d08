import { createServer, METHODS } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import {
  ALLOW,
  BODY_LIMIT,
  HEADER_LIMIT,
  HEALTH_JSON,
  PROBLEM_JSON,
  SECURITY_HEADERS,
} from '#shared/http/contract.ts'
import { refusal } from '#shared/http/guard.ts'
import { createHandlerTimeout } from '#shared/http/handler-timeout.ts'
import { FAIL, isProbe, PASS } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { errorStatus, HttpProblem, problem } from '#shared/http/problem.ts'
import { strict } from '#shared/http/strict.ts'
import { drain } from '#shared/process/drain.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { SERVER_OPTIONS } from '#shared/process/listen.ts'
import { isDeparture, type Logger, logAnswer, logFailure, logsAnswers } from '#shared/process/log.ts'

export type App = FastifyInstance
export type Options = AppOptions<(app: App) => void>

/** What stands around the routes: log, ids, headers, errors, health. */
export function createBase({ config, health, log, routes }: Options): App {
  const app: App = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new FailureLog(),
    serverFactory: (listener) => createServer(SERVER_OPTIONS, strict(listener)),
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: HEADER_LIMIT }, // the default, 100, answers 404 to a longer parameter
    trustProxy: (address) => config.trustProxy(address),
    return503OnClosing: false, // whoever comes last is answered like everyone else
    genReqId: (request) => requestId(request.headers['x-request-id']),
    frameworkErrors: (error, request, reply) => {
      begin(request, reply) // no hook runs for these
      sendProblem(reply, errorStatus(error))
    },
  })
  // Node's own answer to what is no HTTP says `connection: close`. Fastify's does not, so NGINX would keep the connection for somebody
  // else's request, which meets its end: 502.
  app.server.removeAllListeners('clientError')

  const limitSilence = createHandlerTimeout(config.handlerTimeoutMs, log)
  const logs = logsAnswers(log)
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    const { host, 'content-length': length } = request.headers
    // 404 here, before the body is parsed: an unknown path is unknown whatever the body holds.
    const status = refusal(request.raw.url ?? '/', host, length) ?? (request.is404 ? 404 : undefined)
    done(status && new HttpProblem(status))
  })
  app.addHook('preClose', () => drain(app.server))

  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404))
  app.setErrorHandler((error, request, reply) => {
    const status = errorStatus(error)
    if (status === 500) logFailure(log, request.id, error)
    if (!reply.raw.headersSent) return sendProblem(reply, status)
    // With the headers gone, only a cut connection can tell the client that the answer is not whole.
    reply.hijack().raw.destroy()
    return reply
  })

  refuseOtherMethods(app)
  app.get('/livez', (_request, reply) => sendHealth(reply, 200, PASS))
  app.get('/readyz', (_request, reply) =>
    health.draining ? sendHealth(reply, 503, FAIL) : sendHealth(reply, 200, PASS),
  )
  routes?.(app)
  return app

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id)
    if (health.draining) reply.header('connection', 'close')
    limitSilence(reply.raw, request.id)
    if (logs && !isProbe(request.url)) logWhenClosed(log, request, reply)
  }
}

/** As bytes: Fastify would add a charset to the type of a string, and JSON has none (RFC 8259 section 11). */
export function sendProblem(reply: FastifyReply, status: number): FastifyReply {
  return reply
    .code(status)
    .header('content-type', PROBLEM_JSON)
    .send(Buffer.from(problem(status)))
}

function sendHealth(reply: FastifyReply, status: number, body: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('content-type', HEALTH_JSON)
    .send(Buffer.from(body))
}

function logWhenClosed(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now()
  // Now, because a closed connection has no address.
  const { id, method, url, ip: client } = request
  reply.raw.once('close', () => {
    const { statusCode: status } = reply.raw
    logAnswer(log, { id, method, url, status, ms: performance.now() - startedAt, client })
  })
}

/** Fastify's own lines have other fields, and no line at all for a client that left early. */
class FailureLog extends LogController {
  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override requestCompleted(): void {}

  /** A body stream that failed after the headers were sent; Fastify cuts the connection. */
  override streamError(error: Error, request: FastifyRequest): void {
    if (!isDeparture(error)) logFailure(request.log as Logger, request.id, error)
  }
}

/** Fastify answers 404 to a method without a route; a path that has a GET answers 405, and 204 to OPTIONS. */
function refuseOtherMethods(app: App): void {
  const others = METHODS.filter((method) => method !== 'GET' && method !== 'HEAD' && method !== 'CONNECT')
  for (const method of others) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  app.addHook('onRoute', ({ method, url }) => {
    if ([method].flat().includes('GET'))
      app.route({ method: others, url, onRequest: refuseMethod, handler: refuseMethod })
  })
}

/** Before any body is parsed: the method is wrong whatever it holds. */
async function refuseMethod(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.header('allow', ALLOW)
  return request.method === 'OPTIONS' ? reply.code(204).send() : sendProblem(reply, 405)
}
