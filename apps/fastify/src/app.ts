import sensible from '@fastify/sensible'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import type { AppOptions } from '#shared/app-options.ts'
import { dropPorts } from '#shared/forwarded.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { requestId } from '#shared/request-id.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import { drain, serverOptions, trackConnections } from '#shared/server.ts'
import accessLog from './plugins/access-log.ts'
import bodies, { boundNumbers } from './plugins/bodies.ts'
import errors, { Log } from './plugins/errors.ts'
import healthRoutes from './plugins/health.ts'

declare module 'fastify' {
  /** `lifecycle.signal` ends endless streams when the server stops. */
  interface FastifyInstance extends Pick<AppOptions, 'config' | 'lifecycle'> {}
}

const securityHeaders = new Map(Object.entries(SECURITY_HEADERS))

/** The app with its plugins, in the order in which a request meets them. */
export function createApp(
  { config, lifecycle, log }: AppOptions,
  routes: FastifyPluginAsync,
): FastifyInstance {
  const { keepAliveTimeout, requestTimeout, ...http } = serverOptions(config)
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new Log({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    bodyLimit: 65_536,
    trustProxy: config.TRUST_PROXY,
    keepAliveTimeout,
    requestTimeout,
    http,
    return503OnClosing: false, // requests that arrive while draining are served
    // By default "?items=Infinity" passes `maximum: 1000`.
    ajv: { customOptions: { strictNumbers: false }, onCreate: boundNumbers },
  })
  app.decorate('config', config)
  app.decorate('lifecycle', lifecycle)

  // Fastify says `connection: close` from now on, so the first of the hooks stops listening.
  trackConnections(app.server)
  let drained: Promise<void> | undefined
  app.addHook('preClose', async () => {
    drained = drain(app.server)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (config.TRUST_PROXY) dropPorts(request.raw)
    // `handlerTimeout` also ends streams that are well.
    limitSilence(reply.raw, config.HANDLER_TIMEOUT_MS, () => reply.getHeaders())
    // On Node's response: `reply.headers()` saves 6 of 66 µs, but a route that writes to `reply.raw` would have none.
    reply.raw.setHeaders(securityHeaders).setHeader('x-request-id', request.id)
    done()
  })
  if (log.isLevelEnabled('info')) app.register(accessLog)
  app.register(sensible)
  app.register(errors)
  app.register(bodies)
  app.register(healthRoutes)
  // Its own context, because a hook `onSend` may fail for a problem as well: that comes to the error handler of the outer context.
  app.register(async (scope) => {
    scope.setErrorHandler(app.errorHandler)
    scope.setNotFoundHandler((_request, reply) => reply.notFound())
    scope.register(routes)
  })
  // Its own context, because then it runs after the preClose hooks of routes. They end the streams that `drain` waits for.
  app.register(async (last) => void last.addHook('preClose', () => drained))
  return app
}
