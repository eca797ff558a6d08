import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { ALLOW, HEALTH_JSON, PROBLEM_JSON } from '#shared/http/contract.ts'
import { createHandlerTimeout } from '#shared/http/handler-timeout.ts'
import { FAIL, isProbe, PASS } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { errorStatus, HttpProblem, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { type Logger, logFailure, logResponse, logsResponses } from '#shared/process/log.ts'

export type App = Express
export type Options = AppOptions<(app: App) => void>

/** What stands around the routes: log, ids, headers, errors, health. */
export function createBase({ config, health, log, routes }: Options, addRoutes: (app: App) => void): App {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // hashing an answer that was computed anyway saves bytes, not work
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('trust proxy', config.trustProxy)

  const limitSilence = createHandlerTimeout(config.handlerTimeoutMs, log)
  const logs = logsResponses(log)
  app.use((request, response, next) => {
    const id = requestId(request.headers['x-request-id'])
    response.locals.id = id
    response.set(SECURITY_HEADERS).set('x-request-id', id)
    if (health.draining) response.set('connection', 'close')
    limitSilence(response, id)
    if (logs && !isProbe(request.url)) logWhenClosed(log, request, response)
    const { host } = request.headers
    const status = validateRequest(request.url, host)
    next(status && new HttpProblem(status))
  })

  get(app, '/livez', (_request, response) => sendHealth(response, 200, PASS))
  get(app, '/readyz', (_request, response) =>
    health.draining ? sendHealth(response, 503, FAIL) : sendHealth(response, 200, PASS),
  )
  addRoutes(app)
  routes?.(app)

  app.use((_request, response) => sendProblem(response, 404))
  app.use(createErrorHandler(log))
  return app
}

/** A route for GET, and so HEAD. Express alone answers 404 to other methods and 200 with a body to OPTIONS. */
export function get(app: App, path: string, ...handlers: RequestHandler<Record<string, string>>[]): void {
  app
    .route(path)
    .get(...handlers)
    .all((request, response) => {
      response.set('allow', ALLOW)
      if (request.method === 'OPTIONS') response.status(204).end()
      else sendProblem(response, 405)
    })
}

/** As bytes: Express would add a charset to the type of a string, and JSON has none (RFC 8259 section 11). */
export function sendProblem(response: Response, status: number): void {
  response
    .status(status)
    .set('content-type', PROBLEM_JSON)
    .send(Buffer.from(problem(status)))
}

function sendHealth(response: Response, status: number, body: string): void {
  response
    .status(status)
    .set('cache-control', 'no-store')
    .set('content-type', HEALTH_JSON)
    .send(Buffer.from(body))
}

function logWhenClosed(log: Logger, request: Request, response: Response): void {
  const startedAt = performance.now()
  // Now, because a closed connection has no address.
  const { method, originalUrl: url, ip: client } = request
  response.once('close', () => {
    const { locals, statusCode: status } = response
    logResponse(log, { requestId: locals.id, method, url, status, ms: performance.now() - startedAt, client })
  })
}

/** Four parameters make it an error handler. */
function createErrorHandler(log: Logger): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    const status = errorStatus(error)
    if (status === 500) logFailure(log, response.locals.id, error)
    // With the headers gone, only a cut connection can tell the client that the answer is not whole. Express's own handler
    // does that too, but prints the error once more.
    if (response.headersSent) response.destroy()
    else sendProblem(response, status)
  }
}
