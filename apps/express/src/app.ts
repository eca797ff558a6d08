import express, { type Express, type Router } from 'express'
import { BODY_LIMIT } from '#shared/http/contract.ts'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logsResponses } from '#shared/process/log.ts'
import { accessLog, requestLog } from './middleware/access-log.ts'
import { errors, notFound } from './middleware/errors.ts'
import { health } from './middleware/health.ts'
import { requestId } from './middleware/request-id.ts'
import { securityHeaders } from './middleware/security-headers.ts'

/** The app with its middleware, in the order in which a request meets it. */
export function createApp(options: AppOptions, routes: Router): Express {
  const { config, log } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // hashing a response that was computed anyway saves bytes, not work
  app.set('trust proxy', config.trustProxy)
  requestLog(app, log)
  app.locals.health = options.health
  app.locals.shouldShed = createLoadShedder(config.maxQueueWaitMs)

  app.use(requestId)
  app.use(securityHeaders)
  app.use(health(options.health)) // before the access log, so that probes have no line
  if (logsResponses(log)) app.use(accessLog(log))
  app.use(express.json({ limit: BODY_LIMIT }))
  app.use(routes)
  app.use(notFound)
  app.use(errors)
  return app
}
