import { bodyParser } from '@koa/bodyparser'
import type Router from '@koa/router'
import Koa, { type Context } from 'koa'
import type { AppOptions } from '#shared/app-options.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { probes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { errors, onError } from './middleware/errors.ts'
import { trustProxies } from './middleware/forwarded.ts'
import { setRequestId } from './middleware/request-id.ts'

declare module 'koa' {
  /** `lifecycle.signal` ends endless streams when the server stops. */
  interface DefaultContext extends AppOptions {}
}

/** The app with its middleware, in the order in which a request meets it. */
export function createApp({ config, lifecycle, log }: AppOptions, routes: Router): Koa {
  const app = new Koa({ proxy: config.TRUST_PROXY !== false })
  Object.assign(app.context, { config, lifecycle })
  // Its lines contain the id of the request.
  Object.defineProperty(app.context, 'log', {
    get(this: Context) {
      return log.child({ requestId: this.state.requestId })
    },
  })
  app.on('error', onError(log))

  if (config.TRUST_PROXY) app.use(trustProxies(config.TRUST_PROXY))
  app.use(setRequestId)
  app.use((ctx, next) => {
    ctx.set(SECURITY_HEADERS)
    return next()
  })
  app.use(errors)
  app.use(probes.routes()) // before the access log, so that probes have no line
  if (log.isLevelEnabled('info')) app.use(accessLog(log))
  app.use((ctx, next) => {
    limitSilence(ctx.res, config.HANDLER_TIMEOUT_MS)
    return next()
  })
  app.use(
    bodyParser({
      jsonLimit: '64kb',
      formLimit: '64kb',
      extendTypes: { json: ['application/json', '+json'] }, // merged with its list by index
      onError: (error, ctx) => {
        // The parser pauses a body that is too large, or its decoder, and the next request of the connection would wait.
        ctx.req.unpipe().resume()
        ctx.throw(400, error) // unless it has a status, as a body that is too large
      },
    }),
  )
  app.use(routes.routes())
  app.use(routes.allowedMethods())
  return app
}
