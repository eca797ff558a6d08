import type { Server } from 'bun'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import type { Handler } from './handler.ts'
import { accessLog } from './middleware/access-log.ts'
import { limitBody } from './middleware/body-limit.ts'
import { handleError, notFound, sendFailure } from './middleware/errors.ts'
import { limitTime } from './middleware/handler-timeout.ts'
import { createHealthRoutes } from './middleware/health.ts'
import { refuseMalformed } from './middleware/protect.ts'
import { setRequestId } from './middleware/request-id.ts'
import { setSecurityHeaders } from './middleware/security-headers.ts'
import { type Routes, wrapRoutes } from './wrap-routes.ts'

/** How far the server has stopped: `service.ts` sets it. */
export interface Stop {
  /** Requests wait for it. */
  held?: Promise<void>
  isListening: boolean
}

/**
 * The options of `Bun.serve`, without an address. For WebSockets, add `websocket`: `{ ...createApp(options, routes), websocket }`.
 */
export function createApp(options: AppOptions, routes: Routes) {
  const { config, health, log } = options
  const logResponses = accessLog(options)
  const stop: Stop = { isListening: true }

  /** Bun has no middleware, so every handler gets this around it. A handler that responds at once needs no promise. */
  function wrap(handler: Handler, route?: string, maxBodySize?: number): Handler {
    const handle = limitBody(handler, maxBodySize)

    const serve: Handler = (request, server) => {
      const id = setRequestId(request)
      const finishLine = logResponses(request, server, route)
      const fail = (error: unknown) => handleError(error, request, log)

      function finish(response: Response | undefined) {
        if (response !== undefined) {
          const { headers } = response
          setSecurityHeaders(headers)
          headers.set('x-request-id', id)
          if (!stop.isListening) headers.set('connection', 'close')
          // Bun would cut an event stream that is quiet for `idleTimeout`.
          if (headers.get('content-type')?.startsWith('text/event-stream')) server.timeout(request, 0)
        }
        finishLine?.(response)
        return response
      }

      try {
        const response = refuseMalformed(request) ?? handle(request, server)
        if (!(response instanceof Promise)) return finish(response)
        return limitTime(response, request, config.handlerTimeoutMs, log).catch(fail).then(finish)
      } catch (error) {
        return finish(fail(error))
      }
    }
    return (request, server) =>
      stop.held === undefined ? serve(request, server) : stop.held.then(() => serve(request, server))
  }

  return {
    stop, // no option of Bun
    routes: wrapRoutes({ ...routes, ...createHealthRoutes(health) }, wrap),
    fetch: wrap(notFound) as (request: Request, server: Server<undefined>) => Promise<Response>,
    error: sendFailure(log),
    development: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // body-limit.ts refuses with a problem; Bun's own 413 has no body, headers or log line
    idleTimeout: 65, // seconds; outlives NGINX's keep-alive (60 s), or NGINX reuses a connection that was just closed: 502
  }
}
