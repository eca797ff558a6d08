import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logResponse, logsResponses } from '#shared/process/log.ts'
import type { Plugin } from '../plugin.ts'
import { forwardedOf } from './forwarded.ts'
import { targetOf } from './protect.ts'
import { idOf } from './request-id.ts'

/** One line per response. Bun does not tell when a response was sent, so `ms` ends when the response is handed to Bun. */
export function accessLog({ config, log }: Pick<AppOptions, 'config' | 'log'>): Plugin {
  if (!logsResponses(log)) return (next) => next

  return (next, route) => async (request, server) => {
    const startedAt = performance.now()
    const { method, headers } = request
    const { client } = forwardedOf(request, server, config) // read now, because a closed connection has no address
    const response = await next(request, server)
    logResponse(log, {
      requestId: idOf(request),
      method,
      url: targetOf(request),
      route,
      status: response?.status ?? 101, // a WebSocket
      ms: performance.now() - startedAt,
      client,
      traceparent: headers.get('traceparent'),
    })
    return response
  }
}
