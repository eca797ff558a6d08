import express, { type Request, type Router } from 'express'
import type { AppOptions } from '#shared/app-options.ts'
import { dropPorts } from '#shared/forwarded.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { livez, readyz } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { errors, notFound } from './middleware/errors.ts'
import { setRequestId } from './middleware/request-id.ts'

declare global {
  namespace Express {
    /** Of `app.locals` and `response.locals`. `lifecycle.signal` ends endless streams when the server stops. */
    interface Locals extends AppOptions {}
    /** Lines of `request.log` contain the id of the request. */
    interface Request extends Pick<AppOptions, 'log'> {}
  }
}

// Not of `app.request`: a mounted sub-app has its own. https://expressjs.com/en/guide/overriding-express-api.html
Object.defineProperty(express.request, 'log', {
  get(this: Request) {
    return this.res?.locals.log.child({ requestId: this.id })
  },
})

/** The app with its middleware, in the order in which a request meets it. */
export function createApp(options: AppOptions, routes: Router): express.Express {
  const { config, lifecycle, log } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // a hash of each response: 20 of 60 µs of a hello
  app.set('trust proxy', config.TRUST_PROXY)
  Object.assign(app.locals, { config, lifecycle, log })

  if (config.TRUST_PROXY)
    app.use((request, _response, next) => {
      dropPorts(request)
      next()
    })
  app.use(setRequestId)
  app.use((_request, response, next) => {
    Object.assign(response.locals, { config, lifecycle, log }) // a mounted sub-app has `app.locals` of its own
    response.set(SECURITY_HEADERS)
    next()
  })
  app.get('/livez', livez) // before the access log, so that probes have no line
  app.get('/readyz', readyz)
  if (log.isLevelEnabled('info')) app.use(accessLog(log))
  app.use((_request, response, next) => {
    limitSilence(response, config.HANDLER_TIMEOUT_MS)
    next()
  })
  app.use(express.json({ limit: '64kb', type: ['json', '+json'] }))
  app.use(routes)
  app.use(notFound)
  app.use(errors)
  return app
}
