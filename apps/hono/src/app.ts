import { type Env, Hono, type Schema } from 'hono'
import type { GetConnInfo } from 'hono/conninfo'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import { createProblem } from '#shared/http/problem.ts'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { accessLog } from './middleware/access-log.ts'
import { limitBody } from './middleware/body-limit.ts'
import { catchThrown, handleError, refuseMethod, sendProblem } from './middleware/errors.ts'
import { createHealthRoutes } from './middleware/health.ts'
import { requestId } from './middleware/request-id.ts'
import { securityHeaders } from './middleware/security-headers.ts'

/**
 * The app with its middleware. A request meets them in this order. The app runs on every runtime that Hono supports.
 * @param options.getConnInfo of the runtime's adapter; without it, the log does not know the client's address
 */
export function createApp<RouteEnv extends Env, RouteSchema extends Schema>(
  options: AppOptions & { getConnInfo?: GetConnInfo },
  routes: Hono<RouteEnv, RouteSchema>,
) {
  const { health, log, getConnInfo } = options
  const app = new Hono()
  const shouldShed = createLoadShedder(options.config.maxQueueWaitMs)
  app.onError(handleError(log))
  app.notFound((c) => sendProblem(c, createProblem(404)))

  // What routes and middleware read from the context. One function sets all, because each middleware costs time.
  app.use((c, next) => {
    c.set('log', log)
    c.set('health', health)
    c.set('shouldShed', shouldShed)
    return next()
  })
  app.use(requestId)
  app.use(securityHeaders)
  app.route('/', createHealthRoutes(health)) // before the access log, which has no lines of them
  app.use(accessLog({ log, getConnInfo }))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: refuseMethod }))
  app.use(catchThrown)
  app.use(limitBody(BODY_LIMIT))
  return app.route('/', routes)
}
