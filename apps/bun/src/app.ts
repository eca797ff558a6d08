import type { AppOptions } from '#shared/app-options.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { idleTimeout } from '#shared/web-server.ts'
import { closeWhenStopped } from './drain.ts'
import { healthRoutes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { errors, notFound, sendProblem } from './middleware/errors.ts'
import { limitTime } from './middleware/handler-timeout.ts'
import { setRequestId } from './middleware/request-id.ts'
import { type CreateRoutes, wrap, wrapRoutes } from './routes.ts'

/**
 * The options of `Bun.serve`, without an address. Bun has no middleware, so each handler gets it here, in the order in which a request meets
 * it. HTML imports, files and directories are served by Bun alone, without headers, id and log.
 */
export function createApp(options: AppOptions, createRoutes: CreateRoutes) {
  const { config, lifecycle, log } = options
  const unlogged = [closeWhenStopped, setRequestId]
  const accessLogs = log.isLevelEnabled('info') ? [accessLog(options)] : []
  const logged = [...unlogged, ...accessLogs, errors(log), limitTime(config.HANDLER_TIMEOUT_MS)]

  return {
    routes: {
      ...wrapRoutes(healthRoutes(lifecycle), unlogged),
      ...wrapRoutes(createRoutes(options), logged),
    },
    fetch: wrap(notFound, logged) as (request: Request, server: Bun.Server<undefined>) => Promise<Response>,
    error(err: Error) {
      log.error({ err }, 'failed') // after the handler, such as a file that is not there
      return sendProblem(500, SECURITY_HEADERS)
    },
    development: false,
    reusePort: false, // without `development`, a second process would share the port
    maxRequestBodySize: 64 * 1024, // of the route that takes the largest body
    idleTimeout: idleTimeout(options),
  }
}
