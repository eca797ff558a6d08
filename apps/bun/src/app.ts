import type { Server } from 'bun'
import { BODY_LIMIT } from '#shared/http/contract.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { compose } from './plugin.ts'
import { accessLog } from './plugins/access-log.ts'
import { decorateServer } from './plugins/decorate-server.ts'
import { errors, notFound, sendFailure } from './plugins/errors.ts'
import { handlerTimeout } from './plugins/handler-timeout.ts'
import { createHealthRoutes } from './plugins/health.ts'
import { protect } from './plugins/protect.ts'
import { requestId } from './plugins/request-id.ts'
import { securityHeaders } from './plugins/security-headers.ts'
import { type Routes, wrapRoutes } from './wrap-routes.ts'

/** The options of `Bun.serve`, without an address: all routes, wrapped in the plugins. A request meets the plugins in this order. */
export function createApp(options: AppOptions, routes: Routes) {
  const { config, health, log } = options
  const inner = compose(
    decorateServer(options),
    securityHeaders,
    protect(health),
    errors(log),
    handlerTimeout(config.handlerTimeoutMs, log),
  )
  const plugins = compose(requestId, accessLog(options), inner)
  const probePlugins = compose(requestId, inner) // the access log has no lines of probes

  return {
    routes: { ...wrapRoutes(routes, plugins), ...wrapRoutes(createHealthRoutes(health), probePlugins) },
    fetch: plugins(notFound) as (request: Request, server: Server<undefined>) => Promise<Response>,
    error: sendFailure(log),
    development: false,
    maxRequestBodySize: BODY_LIMIT,
    idleTimeout: 65, // seconds; outlives NGINX's keep-alive (60 s), or NGINX reuses a connection that was just closed: 502
  }
}
