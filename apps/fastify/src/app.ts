import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import { drain } from '#shared/process/drain.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import accessLog, { FailureLog } from './plugins/access-log.ts'
import errors from './plugins/errors.ts'
import health from './plugins/health.ts'
import loadShedding from './plugins/load-shedding.ts'
import requestId from './plugins/request-id.ts'
import securityHeaders from './plugins/security-headers.ts'

/** The app with its plugins, in the order in which a request meets them. */
export function createApp(options: AppOptions, routes: FastifyPluginAsync): FastifyInstance {
  const { config, log } = options
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    requestIdHeader: 'x-request-id',
    logController: new FailureLog({ requestIdLogLabel: 'requestId' }),
    bodyLimit: BODY_LIMIT,
    trustProxy: config.trustProxy,
    http: SERVER_OPTIONS,
    return503OnClosing: false, // requests that arrive while draining are served
    ajv: { customOptions: { strictNumbers: false } }, // Ajv turns "Infinity" into a number and then skips `maximum`; this makes it check
    routerOptions: { maxParamLength: 1024 }, // by default a parameter of over 100 characters is a 404
  })
  app.server.keepAliveTimeout = SERVER_OPTIONS.keepAliveTimeout // the option of this name takes 0 for its default
  protect(app.server, options)

  // Fastify says `connection: close` from now on, so the first of the hooks stops listening.
  let drained: Promise<void> | undefined
  app.addHook('preClose', async () => {
    drained = drain(app.server)
  })
  app.register(requestId)
  app.register(accessLog)
  app.register(securityHeaders)
  app.register(errors)
  app.register(health, { health: options.health })
  app.register(loadShedding, { maxQueueWaitMs: config.maxQueueWaitMs })
  app.register(routes)
  // Its own context, because then it runs after the preClose hooks of routes. They end the streams that `drain` waits for.
  app.register(async (last) => void last.addHook('preClose', () => drained))
  return app
}
