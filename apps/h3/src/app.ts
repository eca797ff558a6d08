import { H3, HTTPError } from 'h3'
import type { Health } from '#shared/http/health.ts'
import { requestId } from '#shared/http/ids.ts'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import type { Logger } from '#shared/process/log.ts'
import { limitBody } from './middleware/body-limit.ts'
import { handleError } from './middleware/errors.ts'
import { createHealthRoutes } from './middleware/health.ts'

declare module 'h3' {
  interface H3EventContext {
    log: Logger
    /** Its `signal` ends endless streams when the server stops. */
    health: Health
    /** The inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
    requestId: string
    shouldShed: ReturnType<typeof createLoadShedder>
  }
}

/** The app with its middleware. A request meets them in this order. */
export function createApp(options: AppOptions, routes: H3): H3 {
  const { health, log } = options
  const shouldShed = createLoadShedder(options.config.maxQueueWaitMs)
  const app = new H3({ onError: handleError, silent: true }) // `silent`: handleError logs

  app.use(({ context, req }) => {
    context.log = log
    context.health = health
    context.shouldShed = shouldShed
    context.requestId = requestId(req.headers.get('x-request-id') ?? undefined)
  })
  // h3 takes `/json/` for `/json`.
  app.use(({ url, context: { matchedRoute } }) => {
    const isOther = url.pathname.length > 1 && url.pathname.endsWith('/')
    if (isOther && !matchedRoute?.route?.endsWith('**')) throw new HTTPError({ status: 404 })
  })
  // A route sets another limit in its `meta`, in bytes.
  app.use((event) => limitBody(event, Number(event.context.matchedRoute?.meta?.bodyLimit ?? BODY_LIMIT)))

  return app.mount('', createHealthRoutes(health)).mount('', routes)
}
