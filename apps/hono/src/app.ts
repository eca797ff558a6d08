import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import type { AppOptions } from '#shared/app-options.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { probes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { onError, throwError } from './middleware/errors.ts'
import { setRequestId } from './middleware/request-id.ts'

declare module 'hono' {
  /** `health.signal` ends endless streams when the server stops. */
  interface ContextVariableMap extends AppOptions {}
}

const securityHeaders = new Map(Object.entries(SECURITY_HEADERS))

/**
 * The app with its middleware, in the order in which a request meets it.
 * @param larger routes with a `bodyLimit()` of their own, which are registered before that of all others
 */
export function createApp({ config, health, log }: AppOptions, routes: Hono, larger = new Hono()) {
  const app = new Hono<{ Bindings: Partial<HttpBindings> }>()
  app.onError(onError)
  app.notFound(() => {
    throw new HTTPException(404)
  })

  app.use(async (c, next) => {
    c.env ??= {} // of `app.request()` in tests
    c.set('config', config)
    c.set('health', health)
    c.set('log', log)
    // On Node's response, because one that a route fetches does not have those of `c.header()`.
    c.env.outgoing?.setHeaders(securityHeaders)
    if (c.env.outgoing)
      limitSilence(c.env.outgoing, config.HANDLER_TIMEOUT_MS, () => Object.fromEntries(c.res.headers))
    await next().catch(throwError)
  })
  app.use(setRequestId)
  app.route('/', probes) // before the access log, so that probes have no line
  app.use(accessLog)
  app.route('/', larger)
  // Not for GET: it reads `c.req.raw`, of which the adapter makes a Request in 26 µs.
  const limit = bodyLimit({ maxSize: 64 * 1024 })
  app.use(async (c, next) => {
    await (c.req.method === 'GET' ? next() : limit(c, next))
  })
  return app.route('/', routes)
}
