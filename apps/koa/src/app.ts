import { bodyParser } from '@koa/bodyparser'
import type Router from '@koa/router'
import Koa from 'koa'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logsResponses } from '#shared/process/log.ts'
import { accessLog, contextLog } from './middleware/access-log.ts'
import { errors, failLate, logError } from './middleware/errors.ts'
import { leaveTrusted } from './middleware/forwarded.ts'
import { probes } from './middleware/health.ts'
import { requestId } from './middleware/request-id.ts'

declare module 'koa' {
  /** `health.signal` ends endless streams when the server stops. */
  interface DefaultContext extends Pick<AppOptions, 'config' | 'health'> {}
}

/** The app with its middleware, in the order in which a request meets it. */
export function createApp({ config, health, log }: AppOptions, routes: Router): Koa {
  const app = new Koa({ proxy: config.trustProxy !== false })
  Object.assign(app.context, { config, health })
  contextLog(app, log)
  app.context.onerror = failLate
  app.on('error', logError(log))

  if (config.trustProxy) app.use(leaveTrusted(config.trustProxy))
  app.use(requestId)
  app.use(errors)
  app.use(probes.routes()) // before the access log, so that probes have no line
  if (logsResponses(log)) app.use(accessLog(log))
  app.use(
    bodyParser({
      jsonLimit: BODY_LIMIT,
      formLimit: BODY_LIMIT,
      onError: (error, ctx) => ctx.throw(400, error), // unless it has a status; the errors of zlib have none
    }),
  )
  app.use(routes.routes())
  app.use(routes.allowedMethods()) // of the probes, too
  return app
}
