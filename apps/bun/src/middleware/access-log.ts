import type { Server } from 'bun'
import { isProbe } from '#shared/http/health.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { logResponse, logsResponses } from '#shared/process/log.ts'
import type { Result } from '../handler.ts'
import { forwardedOf } from './forwarded.ts'
import { targetOf } from './protect.ts'
import { idOf } from './request-id.ts'

/**
 * One line per response, and none for probes. Bun does not tell when a response was sent, so `ms` ends when the response is handed to Bun.
 * @returns a function to call for every request; what that returns is called with the response
 */
export function accessLog({ config, log }: Pick<AppOptions, 'config' | 'log'>) {
  const isOn = logsResponses(log)

  return (request: Request, server: Server<never>, route?: string) => {
    if (!isOn || isProbe(route ?? '')) return undefined
    const startedAt = performance.now()
    const { client } = forwardedOf(request, server, config) // read now, because a closed connection has no address
    return (response: Result) => {
      const { method, headers } = request
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
    }
  }
}
