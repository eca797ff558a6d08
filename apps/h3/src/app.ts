import { H3 } from 'h3'
import type { AppOptions } from '#shared/app-options.ts'
import { takeOrigin } from './forwarded.ts'
import { probes } from './health.ts'
import { accessLog } from './middleware/access-log.ts'
import { onError } from './middleware/errors.ts'
import { limitTime } from './middleware/handler-timeout.ts'
import { onResponse, setRequestId } from './middleware/request-id.ts'

declare module 'h3' {
  /** `lifecycle.signal` ends endless streams when the server stops. */
  interface H3EventContext extends AppOptions {}
}

/** The app with its middleware, in the order in which a request meets it. */
export function createApp({ config, lifecycle, log }: AppOptions, routes: H3): H3 {
  const app = new H3({ onError, onResponse, silent: true }) // `onError` logs

  app.use(({ context }) => {
    Object.assign(context, { config, lifecycle, log })
  })
  app.use(setRequestId)
  if (config.TRUST_PROXY) app.use(takeOrigin)
  app.use(limitTime)
  app.use(accessLog, { match: ({ context }) => !context.matchedRoute?.meta?.isProbe })
  return app.mount('', probes).mount('', routes)
}
