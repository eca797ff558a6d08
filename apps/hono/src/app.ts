import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import type { AppOptions } from '#shared/app-options.ts'
import { type Env, takeOrigin } from './forwarded.ts'
import { probes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { onError } from './middleware/errors.ts'
import { limitTime } from './middleware/handler-timeout.ts'
import { setRequestId } from './middleware/request-id.ts'

declare module 'hono' {
  /** `lifecycle.signal` ends endless streams when the server stops. */
  interface ContextVariableMap extends AppOptions {}
}

/**
 * The app with its middleware, in the order in which a request meets it.
 * @param larger routes with a `bodyLimit()` of their own, which are registered before that of all others
 */
export function createApp({ config, lifecycle, log }: AppOptions, routes: Hono, larger = new Hono()) {
  const app = new Hono<Env>()
  app.onError(onError)
  app.notFound(() => {
    throw new HTTPException(404)
  })

  app.use((c, next) => {
    c.env ??= {} // of `app.request()` in tests
    c.set('config', config)
    c.set('lifecycle', lifecycle)
    c.set('log', log)
    return setRequestId(c, next)
  })
  if (config.TRUST_PROXY) app.use(takeOrigin)
  app.route('/', probes) // before the access log, so that probes have no line
  app.use(accessLog)
  app.use(limitTime(config))
  app.route('/', larger)
  // Not for GET: it reads `c.req.raw`, of which the adapter makes a Request in 26 µs.
  const limit = bodyLimit({ maxSize: 64 * 1024 })
  app.use(async (c, next) => {
    await (c.req.method === 'GET' ? next() : limit(c, next))
  })
  return app.route('/', routes)
}
