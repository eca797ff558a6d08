import type { RequestListener } from 'node:http'
import type { AppOptions } from '#shared/app-options.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { Context } from './context.ts'
import { probes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { onError } from './middleware/errors.ts'
import { createRouter, type Route } from './router.ts'

const securityHeaders = new Map(Object.entries(SECURITY_HEADERS))

/** Does the work of a framework, in the order in which a request meets it. */
export function createApp(options: AppOptions, routes: readonly Route[]): RequestListener {
  const handle = createRouter([...probes, ...routes])
  const logsResponses = options.log.isLevelEnabled('info')

  return async (request, response) => {
    const context = new Context(request, response, options)
    response.setHeader('x-request-id', context.requestId)
    response.setHeaders(securityHeaders)
    if (logsResponses) accessLog(context, options.log)
    limitSilence(response, options.config.HANDLER_TIMEOUT_MS)
    try {
      await handle(context)
    } catch (error) {
      onError(context, error)
    }
  }
}
