import { bodyParser } from '@koa/bodyparser'
import type Router from '@koa/router'
import Koa from 'koa'
import { BODY_LIMIT } from '#shared/http/contract.ts'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logsResponses } from '#shared/process/log.ts'
import { accessLog, contextLog } from './middleware/access-log.ts'
import { errors, failLate, logError } from './middleware/errors.ts'
import { leaveTrusted } from './middleware/forwarded.ts'
import { health } from './middleware/health.ts'
import { requestId } from './middleware/request-id.ts'
import { securityHeaders } from './middleware/security-headers.ts'

/** The app with its middleware, in the order in which a request meets it. */
export function createApp(options: AppOptions, routes: Router): Koa {
  const { config, log } = options
  const app = new Koa({ proxy: config.trustProxy !== false })
  contextLog(app, log)
  app.context.health = options.health
  app.context.shouldShed = createLoadShedder(config.maxQueueWaitMs)
  app.context.onerror = failLate
  app.on('error', logError(log))

  if (config.trustProxy) app.use(leaveTrusted(config.trustProxy))
  app.use(requestId)
  app.use(securityHeaders)
  app.use(errors)
  app.use(health(options.health)) // before the access log, so that probes have no line
  if (logsResponses(log)) app.use(accessLog(log))
  app.use(
    bodyParser({
      jsonLimit: BODY_LIMIT,
      formLimit: BODY_LIMIT,
      onError: (error, ctx) => ctx.throw(400, error), // unless it has a status; the errors of zlib have none
    }),
  )
  app.use(routes.routes())
  app.use(routes.allowedMethods())
  return app
}
