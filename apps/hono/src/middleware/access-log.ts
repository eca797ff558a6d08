import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { GetConnInfo } from 'hono/conninfo'
import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import { isClientAbort, type Logger, logFailure, logResponse, logsResponses } from '#shared/process/log.ts'

declare module 'hono' {
  interface ContextVariableMap {
    log: Logger
  }
}

interface AccessLogOptions {
  log: Logger
  /** Its remote address is logged as the client's, so behind a trusted proxy it is what the proxy says. */
  getConnInfo: GetConnInfo | undefined
}

/**
 * One line per response. Hono's own `logger()` writes text, and misses responses of the handler timeout. Only Node says when a response has
 * left. On other runtimes the logged time ends when the app hands it over.
 */
export function accessLog({ log, getConnInfo }: AccessLogOptions) {
  const logs = logsResponses(log)

  return createMiddleware<{ Bindings?: Partial<HttpBindings> }>((c, next) => {
    const { incoming, outgoing } = c.env ?? {}
    const startedAt = logs ? performance.now() : 0
    // Read now, because a closed connection has no address.
    const client = logs ? getConnInfo?.(c).remote.address : undefined
    outgoing?.prependListener('close', () => {
      const { statusCode, errored } = outgoing
      if (errored && !isClientAbort(errored)) logFailure(log, c.get('requestId'), errored)
      if (logs) write(c, statusCode, startedAt, client)
    })
    // On Node, the upgrade to a WebSocket has no response.
    if (!logs || incoming !== undefined) return next()
    return next().then(() => write(c, c.res.status, startedAt, client))
  })

  function write(c: Context, status: number, startedAt: number, client: string | undefined): void {
    const { method, url } = c.req
    const route = routePath(c, -1)
    logResponse(log, {
      requestId: c.get('requestId'),
      method,
      url: url.slice(url.indexOf('/', 'https://'.length)),
      route: route === '/*' ? undefined : route, // only middleware matched
      status,
      ms: performance.now() - startedAt,
      client,
      traceparent: c.req.header('traceparent'),
    })
  }
}
