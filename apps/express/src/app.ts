import express, { type Router } from 'express'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logsResponses } from '#shared/process/log.ts'
import { accessLog, requestLog } from './middleware/access-log.ts'
import { errors, notFound } from './middleware/errors.ts'
import { livez, readyz } from './middleware/health.ts'
import { requestId } from './middleware/request-id.ts'
import { securityHeaders } from './middleware/security-headers.ts'

declare global {
  namespace Express {
    /** Of `app.locals`. `health.signal` ends endless streams when the server stops. */
    interface Locals extends Pick<AppOptions, 'config' | 'health'> {}
  }
}

/** The app with its middleware, in the order in which a request meets it. */
export function createApp({ config, health, log }: AppOptions, routes: Router): express.Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // an ETag needs the finished body, so a 304 would save bytes, but no rendering
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('trust proxy', config.trustProxy)
  Object.assign(app.locals, { config, health })
  requestLog(app, log)
  securityHeaders(app)

  app.use(requestId)
  app.get('/livez', livez) // before the access log, so that probes have no line
  app.get('/readyz', readyz)
  if (logsResponses(log)) app.use(accessLog(log))
  app.use(express.json({ limit: BODY_LIMIT }))
  app.use(routes)
  app.use(notFound)
  app.use(errors)
  return app
}
