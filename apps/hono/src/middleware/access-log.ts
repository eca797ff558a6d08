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

/** Functions that differ between runtimes. */
export interface Runtime {
  /** Its remote address is logged as the client's, so behind a trusted proxy it is what the proxy says. */
  getConnInfo: GetConnInfo
  /**
   * Calls back when the response was sent or the client has left, with the status that was sent and the error of its body. Without
   * it, the logged time ends when the response is handed to the runtime.
   */
  onClose?: (c: Context, listener: (status: number, error: unknown) => void) => void
  /** Adds the security headers and the id to the response of the runtime. Without it, `c.header()` sets them, which takes longer. */
  addHeaders?: (c: Context) => void
}

interface AccessLogOptions {
  log: Logger
  runtime: Runtime
}

/** One line per response. Hono's own `logger()` writes text, and misses responses of the handler timeout. */
export function accessLog({ log, runtime: { getConnInfo, onClose } }: AccessLogOptions) {
  const logs = logsResponses(log)

  return createMiddleware((c, next) => {
    const startedAt = logs ? performance.now() : 0
    // Read now, because a closed connection has no address.
    const client = logs ? getConnInfo(c).remote.address : undefined
    onClose?.(c, (status, error) => {
      if (error && !isClientAbort(error)) logFailure(log, c.get('requestId'), error)
      if (logs) write(c, status, startedAt, client)
    })
    if (!logs || onClose !== undefined) return next()
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
