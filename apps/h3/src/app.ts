import type { ServerResponse } from 'node:http'
import { H3 } from 'h3'
import type { AppOptions } from '#shared/app-options.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { probes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { onError } from './middleware/errors.ts'
import { setRequestId } from './middleware/request-id.ts'

declare module 'h3' {
  /** `health.signal` ends endless streams when the server stops. */
  interface H3EventContext extends AppOptions {}
}

const securityHeaders = new Map(Object.entries(SECURITY_HEADERS))

/** The app with its middleware, in the order in which a request meets it. */
export function createApp({ config, health, log }: AppOptions, routes: H3): H3 {
  const app = new H3({ onError, silent: true }) // `onError` logs

  app.use(({ context }) => {
    Object.assign(context, { config, health, log })
  })
  app.use(setRequestId)
  app.use(({ runtime, res }) => {
    const response = runtime?.node?.res as ServerResponse | undefined // a WebSocket has none
    // On Node's response: h3 drops `event.res.headers` of an error, and its `errHeaders` replace those of a returned Response.
    response?.setHeaders(securityHeaders)
    if (response) limitSilence(response, config.HANDLER_TIMEOUT_MS, () => Object.fromEntries(res.errHeaders))
  })
  app.use(accessLog, { match: ({ context }) => !context.matchedRoute?.meta?.isProbe })
  return app.mount('', probes).mount('', routes)
}
